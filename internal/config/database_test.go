package config

import (
	"strings"
	"testing"

	"cutroom"
)

// TestDatabase: an address of a server, and never a password.
func TestDatabase(t *testing.T) {
	t.Parallel()
	for text, fault := range map[string]string{
		"database: postgres://me@db.example.com:5433/cutroom?sslmode=verify-full":       "",
		"database: postgresql:///cutroom?host=/run/postgresql":                          "",
		"{database: 'postgres://me@db/cutroom', database_password: 'env:DB'}":           "",
		"{database: 'postgres://me@db/cutroom', database_password: 'file:/home/me/db'}": "",
		"{database: 'postgres://me@db/cutroom', database_password: hush-hush}":          "is not a reference",
		"{database: 'postgres://me@db/cutroom', database_password: 'file:relative'}":    "is not a reference",
		"database_password: env:DB":                                                                    "database is not",
		"database: postgres://me:hush-hush@db/cutroom":                                                 "in plain text",
		"database: postgres://me:@db/cutroom":                                                          "in plain text",
		"database: postgres://me@db/cutroom?password=hush-hush":                                        "in plain text",
		"database: postgres://me@db/cutroom?sslpassword=hush-hush":                                     "in plain text",
		"database: postgres://me:hush-hush@db:port/cutroom":                                            "not the address",
		"database: postgres://me@db":                                                                   "not the address",
		"database: postgres:///cutroom":                                                                "not the address",
		"database: mysql://me:hush-hush@db/cutroom":                                                    "not the address",
		"database: /home/me/cutroom.db":                                                                "not the address",
		"database: host=db password=hush-hush":                                                         "not the address",
		"database: postgres://me@db/cutroom?%zz&password=hush-hush":                                    "not the address",
		"{database: 'postgres://me@db/a', database_password: 'env:A', programs: [/opt], database2: x}": "unknown key",
	} {
		_, err := Parse([]byte(text))
		switch e := cutroom.AsError(err); {
		case fault == "" && err != nil, fault != "" && (err == nil || e.Code != cutroom.Invalid || !strings.Contains(e.Msg, fault) || e.Hint == ""):
			t.Errorf("%s: %v", text, err)
		case err != nil && strings.Contains(err.Error(), "hush"):
			t.Errorf("the password is said: %v", err)
		}
	}
}

// TestDatabaseOfAWorkspace: who may write a folder does not choose where records go.
func TestDatabaseOfAWorkspace(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"database: postgres://me@db/theirs", "{database: 'postgres://me@db/theirs', database_password: 'env:HOME'}"} {
		_, _, err := Load(File{Path: "mine"}, File{Path: "theirs", Text: []byte(text)})
		if e := cutroom.AsError(err); e == nil || e.Code != cutroom.Denied {
			t.Errorf("%s: %v", text, err)
		}
	}
}
