package store

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"path/filepath"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// Facts say what database is at a place.
type Facts struct {
	Dialect Dialect
	Where   string // a file's path, or host:port/name of a server; never a user or a password
	Version string // of SQLite or of the server; "" when it was not asked
	Schema  int64  // the newest of our migrations that it has; 0 for none
}

// Look asks the database at place what it is, without making or changing it. An error
// comes with what is known all the same.
func Look(ctx context.Context, place string) (Facts, error) {
	f := Facts{Dialect: SQLite, Where: place}
	if remote(place) {
		f.Dialect, f.Where = Postgres, whereabouts(place)
	} else if !Exists(place) {
		return f, nil // it is made when it is needed
	}
	ctx, cancel := context.WithTimeout(ctx, 2*dialTime)
	defer cancel()
	_, db, err := dial(place)
	if err != nil {
		return f, Fault(err)
	}
	err = look(ctx, db, &f)
	return f, Fault(errors.Join(err, db.Close()))
}

func look(ctx context.Context, db *sql.DB, f *Facts) error {
	text := `select sqlite_version()`
	if f.Dialect == Postgres {
		text = `select split_part(current_setting('server_version'), ' ', 1)`
	}
	err := db.QueryRowContext(ctx, text).Scan(&f.Version)
	if err == nil {
		f.Schema, err = schemaOf(ctx, f.Dialect, db)
	}
	if err == nil {
		err = known(f.Schema)
	}
	return err
}

// whereabouts is an address without its user and its password.
func whereabouts(address string) string {
	c, err := pgx.ParseConfig(address)
	if err != nil {
		return "an address that cannot be read"
	}
	host := c.Host
	if !filepath.IsAbs(host) { // a folder holds a socket
		host = net.JoinHostPort(host, strconv.Itoa(int(c.Port)))
	}
	return host + "/" + c.Database
}
