package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"

	"cutroom"
)

// SQLite's result codes (sqlite.org/rescode.html), without what their upper bytes add,
// and with it for those of keys.
const (
	codeBusy     = 5
	codeReadOnly = 8
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26

	codePrimaryKey = 1555
	codeUnique     = 2067
)

// PostgreSQL's states (Appendix A of its manual).
const (
	stateUnique     = "23505"
	stateReadOnly   = "25006"
	stateAuthorize  = "28000"
	statePassword   = "28P01"
	stateNoDatabase = "3D000"
	stateSerialize  = "40001"
	stateDeadlock   = "40P01"
	stateRights     = "42501"
	stateNoTable    = "42P01"
	stateFull       = "53100"
	stateConnects   = "53300"
	stateLock       = "55P03"
	stateShutdown   = "57P01"
	stateCrash      = "57P02"
	stateStarting   = "57P03"
)

// Duplicate says that a row was refused because there is one with its key.
func Duplicate(err error) bool {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() == codePrimaryKey || e.Code() == codeUnique
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == stateUnique
}

// Fault is an error of the database as callers see it: what is wrong, and what helps.
// A context's end and what already speaks to callers stay as they are. Neither the
// message nor the cause holds an address or a password.
func Fault(err error) error {
	if _, marked := errors.AsType[*cutroom.Error](err); err == nil || marked {
		return err
	}
	if e := serverFault(err); e != nil {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fileFault(err)
}

const where = "`cutroom doctor` names the state folder"

func fileFault(err error) error {
	code := -1
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		code = e.Code() & 0xff
	}
	switch code {
	case codeCorrupt, codeNotADB:
		return cutroom.Errorf(cutroom.Precondition, "the database %s is damaged", Name).WithCause(err).
			WithHint("move it and its -wal and -shm files away, then put back a backup with `cutroom db restore FILE`; results are kept elsewhere (%s)", where)
	case codeFull:
		return cutroom.Errorf(cutroom.Unavailable, "the disk of the database %s is full", Name).WithCause(err).
			WithHint("free some space, then repeat the call (%s)", where)
	case codeBusy:
		return cutroom.Errorf(cutroom.Unavailable, "the database %s is busy", Name).WithCause(err).
			WithHint("repeat the call in a moment")
	case codeReadOnly, codeCantOpen:
		return cutroom.Errorf(cutroom.Precondition, "the database %s cannot be written", Name).WithCause(err).
			WithHint("make the state folder and the files in it yours and writable (%s)", where)
	}
	return cutroom.Errorf(cutroom.Precondition, "the database %s cannot be used", Name).WithCause(err).
		WithHint("check that the state folder is yours, may be written, and lies on a disk with space (%s)", where)
}

// server is what errors call a PostgreSQL database; its address stays in the config.
const server = "the PostgreSQL database"

const seeDoctor = "`cutroom doctor` shows which one it is"

// serverFault is the fault of a server, nil when err does not come from one.
func serverFault(err error) error {
	if errors.Is(err, errAddress) {
		return cutroom.Errorf(cutroom.Precondition, "database is no address of a PostgreSQL database").
			WithHint("write it as postgres://USER@HOST:PORT/NAME in the config file")
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return stateFault(e)
	}
	if e, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		// Its own text names the user; what is beneath names an address at most.
		return unreachable(plain(e.Unwrap()))
	}
	if _, ok := errors.AsType[*net.OpError](err); ok || errors.Is(err, driver.ErrBadConn) || errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.ErrUnexpectedEOF) {
		return unreachable(plain(err))
	}
	return nil
}

func unreachable(cause error) error {
	return cutroom.Errorf(cutroom.Unavailable, "%s cannot be reached", server).WithCause(cause).
		WithHint("check that the server runs and lets this machine in, then repeat the call (%s)", seeDoctor)
}

// plain keeps of a cause what cannot hold a secret.
func plain(err error) error {
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return errors.New(text)
}

func stateFault(e *pgconn.PgError) error {
	cause := fmt.Errorf("%s (%s)", e.Message, e.Code)
	switch e.Code {
	case statePassword, stateAuthorize, stateConnects: // what the server says then names the user
		cause = fmt.Errorf("SQLSTATE %s", e.Code)
	}
	fault := func(code cutroom.Code, format string, hint string) error {
		return cutroom.Errorf(code, format, server).WithCause(cause).WithHint("%s (%s)", hint, seeDoctor)
	}
	switch e.Code {
	case statePassword, stateAuthorize:
		return fault(cutroom.Precondition, "%s refuses the user or the password", "check database and database_password in the config file")
	case stateNoDatabase:
		return fault(cutroom.Precondition, "%s does not exist on the server", "make it there with createdb, or correct database in the config file")
	case stateReadOnly:
		return fault(cutroom.Precondition, "%s is read-only", "name the primary server in the config file, not a standby")
	case stateRights:
		return fault(cutroom.Precondition, "%s does not let this user make or change its tables", "give the user of the config file the database: alter database NAME owner to USER")
	case stateFull:
		return fault(cutroom.Unavailable, "the disk of %s is full", "free some space on the server, then repeat the call")
	case stateConnects:
		return fault(cutroom.Unavailable, "%s takes no more connections", "end some processes or raise max_connections there, then repeat the call")
	case stateSerialize, stateDeadlock, stateLock:
		return fault(cutroom.Unavailable, "%s is busy", "repeat the call in a moment")
	case stateShutdown, stateCrash, stateStarting:
		return fault(cutroom.Unavailable, "%s is stopping or starting", "repeat the call once the server runs")
	}
	return fault(cutroom.Precondition, "%s cannot be used", "check its version and its log")
}
