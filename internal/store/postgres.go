package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// remote says whether place is the address of a server.
func remote(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// Connections to a server that one process holds, and for how long it keeps idle ones.
const (
	maxConnections  = 8
	idleConnections = 2
	idleTime        = time.Minute
	dialTime        = 5 * time.Second
)

// errAddress is all that is said of an address that cannot be read: it may hold a
// password.
var errAddress = errors.New("not the address of a PostgreSQL database")

func connectPostgres(address string) (*sql.DB, error) {
	c, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, errAddress
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = dialTime
	}
	c.OnNotice = func(*pgconn.PgConn, *pgconn.Notice) {}
	db := stdlib.OpenDB(*c)
	db.SetMaxOpenConns(maxConnections)
	db.SetMaxIdleConns(idleConnections)
	db.SetConnMaxIdleTime(idleTime)
	return db, nil
}

// postgresBase is a database of a server.
type postgresBase struct{}

func (postgresBase) dialect() Dialect { return Postgres }

func (postgresBase) stamped(ctx context.Context, db *sql.DB) (int32, error) {
	var n int32
	err := db.QueryRowContext(ctx, `select n from store_stamp`).Scan(&n)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == stateNoTable || errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}

func (postgresBase) stamp(ctx context.Context, db *sql.DB, n int32) error {
	_, err := db.ExecContext(ctx, `insert into store_stamp (id, n) values (1, $1) on conflict (id) do update set n = excluded.n`, n)
	return err
}

// lockKey is the advisory lock of whoever migrates ("cutroom").
const lockKey = 0x637574726f6f6d

// lock holds a connection of its own: the lock ends with it.
func (postgresBase) lock(ctx context.Context, db *sql.DB) (unlock func(), err error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := c.ExecContext(ctx, fmt.Sprintf(`select pg_advisory_lock(%d)`, lockKey)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialTime)
		defer cancel()
		// A connection that may still hold the lock is not used again.
		if _, err := c.ExecContext(last, fmt.Sprintf(`select pg_advisory_unlock(%d)`, lockKey)); err != nil {
			_ = c.Raw(func(any) error { return driver.ErrBadConn })
		}
		_ = c.Close()
	}, nil
}

func (postgresBase) prepare(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, `create table if not exists store_stamp (id bigint primary key, n bigint not null)`)
	return err
}
