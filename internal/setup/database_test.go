package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/config"
	"cutroom/internal/store"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
)

// TestPlaceOfTheDatabase: the password is looked up where the config says, and only then.
func TestPlaceOfTheDatabase(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "secret")
	if err := os.WriteFile(file, []byte(" p@ss/word:1 \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CUTROOM_TEST_DB", "from env")
	const address = "postgres://me@db:5433/cutroom?sslmode=require"
	for _, c := range []struct{ address, password, want string }{
		{"", "", filepath.Join("state", store.Name)},
		{address, "", address},
		{address, "file:" + file, "postgres://me:p%40ss%2Fword%3A1@db:5433/cutroom?sslmode=require"},
		{address, "env:CUTROOM_TEST_DB", "postgres://me:from%20env@db:5433/cutroom?sslmode=require"},
		{address, "env:CUTROOM_TEST_NO_DB", ""},
		{address, "file:" + file + "2", ""},
	} {
		s := settings{folders: config.Folders{State: "state"}, config: config.Config{Database: c.address, Password: c.password}}
		got, err := s.place().find()
		if e := cutroom.AsError(err); got != c.want || (c.want == "") != (e != nil && e.Code == cutroom.Precondition && e.Hint != "") {
			t.Errorf("%q, %q: %q, %v", c.address, c.password, got, err)
		}
		if err != nil && (strings.Contains(err.Error(), "me@") || strings.Contains(err.Error(), dir)) {
			t.Errorf("%v", err)
		}
	}
}

// TestDoctorShowsTheDatabase: which, which version, whether it answers; never who asks.
func TestDoctorShowsTheDatabase(t *testing.T) {
	s := testenv.NewPostgres(t)
	address := s.Database(t)
	name := address[strings.LastIndex(address[:strings.Index(address, "?")], "/")+1 : strings.Index(address, "?")]
	with := s.User(t, name, "private_user", "private_word")
	s.Do(t, "alter database "+name+" owner to private_user")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("private_word"), 0o600); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	t.Setenv("CUTROOM_HOME", home)
	if err := os.Mkdir(filepath.Join(home, "config"), 0o700); err != nil {
		t.Fatal(err)
	}
	look := func(lines string) Database {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, "config", config.Name), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		registry, err := tool.NewRegistry()
		if err != nil {
			t.Fatal(err)
		}
		i, err := Open(t.Context(), Options{Dir: t.TempDir(), Registry: registry})
		if err != nil {
			t.Fatal(err)
		}
		defer i.Close()
		d := i.databaseState(t.Context())
		if text := fmt.Sprintf("%+v", d); strings.Contains(text, "private") {
			t.Errorf("it says who asks: %s", text)
		}
		return d
	}
	if d := look(""); d.State != tool.Present || d.Kind != "SQLite" || d.Where != filepath.Join(home, "state", store.Name) || d.Version != "" || d.Schema != 0 {
		t.Errorf("%+v", d)
	}
	right := "database: " + strings.Replace(with, ":private_word@", "@", 1) + "\ndatabase_password: file:" + secret + "\n"
	if d := look(right); d.State != tool.Present || d.Kind != "PostgreSQL" || !strings.HasSuffix(d.Where, "/"+name) || d.Version == "" || d.Schema != 0 {
		t.Errorf("%+v", d)
	}
	if err := os.WriteFile(secret, []byte("private_mistake"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := look(right); d.State != tool.Missing || d.Kind != "PostgreSQL" || !strings.Contains(d.Problem, "refuses") || d.Fix == "" {
		t.Errorf("%+v", d)
	}
	if err := os.Remove(secret); err != nil {
		t.Fatal(err)
	}
	if d := look(right); d.State != tool.Missing || d.Kind != "PostgreSQL" || !strings.Contains(d.Problem, "database_password") {
		t.Errorf("%+v", d)
	}
	s.Stop()
	if d := look("database: " + address + "\n"); d.State != tool.Missing || !strings.Contains(d.Problem, "cannot be reached") || d.Where == "" {
		t.Errorf("%+v", d)
	}
}
