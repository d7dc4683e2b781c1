package setup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"cutroom"
	"cutroom/internal/job"
	"cutroom/internal/store"
)

// findDatabase is the place of the database that the config files name.
func findDatabase(o Options) (string, error) {
	s, err := settle(o.Dir, o.Root)
	if err != nil {
		return "", err
	}
	return s.place().find()
}

// BackupDatabase writes what the database holds to a new file; a relative path starts
// at o.Dir.
func BackupDatabase(ctx context.Context, o Options, path string) (store.Content, error) {
	at, err := findDatabase(o)
	if err != nil {
		return store.Content{}, err
	}
	return store.BackupFile(ctx, at, absolute(o.Dir, path), o.now())
}

// RestoreDatabase puts what a backup holds into the database, in place of what it holds
// if overwrite is set.
func RestoreDatabase(ctx context.Context, o Options, path string, overwrite bool) (store.Content, error) {
	at, err := findDatabase(o)
	if err != nil {
		return store.Content{}, err
	}
	path = absolute(o.Dir, path)
	info, err := os.Stat(path) // opening a pipe would wait for whoever writes to it
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(path)
	}
	if err != nil {
		return store.Content{}, cutroom.Errorf(cutroom.NotFound, "the backup cannot be read").WithCause(err).
			WithHint("name a file that `cutroom db backup FILE` wrote and that you may read")
	}
	defer f.Close()
	return store.Restore(ctx, at, f, overwrite, job.Migration())
}

// HasDatabase says whether there may be a database already, without making one.
func (i *Installation) HasDatabase() bool { return i.database.exists() }

// MigrateDatabase brings the database to a schema; see [store.Migrate].
func MigrateDatabase(ctx context.Context, o Options, to int64) (store.Change, error) {
	at, err := findDatabase(o)
	if err != nil {
		return store.Change{}, err
	}
	return store.Migrate(ctx, at, to, job.Migration())
}

func (o Options) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
