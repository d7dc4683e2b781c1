package setup

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"sync"

	"cutroom"
	"cutroom/internal/job"
	"cutroom/internal/store"
	"cutroom/internal/tool"
)

// database is the one handle on the database that the parts of this process share. It
// is opened when one of them first asks.
type database struct {
	place place

	mu sync.Mutex
	db *sql.DB
}

// place is where the database is: the file in the state folder, or a server.
type place struct{ file, address, password string }

// place is what the user's config file says, with nothing looked up.
func (s settings) place() place {
	return place{filepath.Join(s.folders.State, store.Name), s.config.Database, s.config.Password}
}

// find is the place as the store takes it, with the password of a server. Nobody else
// may see it.
func (p place) find() (string, error) {
	if p.address == "" {
		return p.file, nil
	}
	if p.password == "" {
		return p.address, nil
	}
	u, err := url.Parse(p.address)
	if err != nil {
		return "", err
	}
	password, err := secretOf("database_password", p.password)
	if err != nil {
		return "", err
	}
	u.User = url.UserPassword(u.User.Username(), password)
	return u.String(), nil
}

// exists says whether there may be a database, without opening it.
func (d *database) exists() bool { return d.place.address != "" || store.Exists(d.place.file) }

// open opens the database, once. What failed is tried again by the next call.
func (d *database) open(ctx context.Context) (*sql.DB, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.db != nil {
		return d.db, nil
	}
	at, err := d.place.find()
	if err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, at, job.Migration())
	if err == nil {
		d.db = db
	}
	return db, err
}

// close closes what was opened. Nobody may be at work with it any more.
func (d *database) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.db == nil {
		return nil
	}
	db := d.db
	d.db = nil
	return db.Close()
}

// databaseState looks at the database.
func (i *Installation) databaseState(ctx context.Context) Database {
	d := Database{State: tool.Present, Kind: string(store.SQLite)}
	at, err := i.database.place.find()
	if err == nil {
		var f store.Facts
		f, err = store.Look(ctx, at)
		d.Kind, d.Where, d.Version, d.Schema = string(f.Dialect), f.Where, f.Version, f.Schema
	} else {
		d.Kind = string(store.Postgres)
	}
	if err != nil {
		e := cutroom.AsError(err)
		d.State, d.Problem, d.Fix = tool.Missing, e.Msg, e.Hint
	}
	return d
}
