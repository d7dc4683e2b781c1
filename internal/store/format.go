package store

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
)

// A backup is lines of JSON, the same for every kind of database: what it is; for each
// table its name and columns, and then its rows as lists; and how many rows there were,
// with the SHA-256 of all lines before.

type headLine struct {
	Backup int     `json:"cutroom_backup"` // version of this form
	Schema int64   `json:"schema"`         // newest migration of the database
	From   Dialect `json:"from"`
	Made   int64   `json:"made"` // milliseconds since 1970
}

type tableLine struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
}

type endLine struct {
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
}

// formVersion is the version of the form that is written.
const formVersion = 1

// maxLine bounds a line, in bytes: the largest that a job keeps of an answer, escaped.
const maxLine = 64 << 20

// scribe writes a backup.
type scribe struct {
	w    *bufio.Writer
	sum  hash.Hash
	rows int64
}

func newScribe(w io.Writer) *scribe {
	s := &scribe{sum: sha256.New()}
	s.w = bufio.NewWriterSize(io.MultiWriter(w, s.sum), 1<<16)
	return s
}

func (s *scribe) line(v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		_, err = s.w.Write(append(b, '\n'))
	}
	return err
}

func (s *scribe) row(t table, row []any) error {
	for i, v := range row {
		if text, ok := v.(string); ok && !utf8.ValidString(text) {
			return cutroom.Errorf(cutroom.Precondition, "the column %s of %s holds what is no text", t.columns[i].name, t.name).
				WithHint("that row was not written by cutroom; look at it with a database shell and remove it")
		}
	}
	s.rows++
	return s.line(row)
}

func (s *scribe) end() error {
	if err := s.w.Flush(); err != nil {
		return err
	}
	if err := s.line(endLine{s.rows, hex.EncodeToString(s.sum.Sum(nil))}); err != nil {
		return err
	}
	return s.w.Flush()
}

// backupReader reads a backup and believes nothing in it.
type backupReader struct {
	r      *bufio.Reader
	sum    hash.Hash
	before []byte // sum of all lines but the last one read
	n      int    // lines read
}

func newBackupReader(r io.Reader) *backupReader {
	return &backupReader{r: bufio.NewReaderSize(r, 1<<16), sum: sha256.New()}
}

// broken is an error about the line read last.
func (b *backupReader) broken(format string, args ...any) error {
	return cutroom.Errorf(cutroom.Invalid, "line %d of the backup: %s", b.n, fmt.Sprintf(format, args...)).
		WithHint("use another backup; `cutroom db backup` never leaves half of one under its name")
}

// line reads the next line, without its end.
func (b *backupReader) line() ([]byte, error) {
	b.before = b.sum.Sum(b.before[:0])
	b.n++
	var line []byte
	for {
		part, err := b.r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, b.broken("it is longer than %d bytes", maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return nil, b.broken("the file ends too early")
		case err != nil:
			return nil, err
		}
		b.sum.Write(line)
		return line[:len(line)-1], nil
	}
}

func (b *backupReader) head() (headLine, error) {
	var h headLine
	text, err := b.line()
	if _, ours := errors.AsType[*cutroom.Error](err); err != nil && !ours {
		return h, err
	}
	if err == nil {
		err = json.Unmarshal(text, &h, json.RejectUnknownMembers(true))
	}
	newest, err2 := newestSchema()
	switch {
	case err != nil || h.Backup == 0:
		return h, cutroom.Errorf(cutroom.Invalid, "the file is no backup of cutroom").
			WithHint("give a file that `cutroom db backup FILE` wrote")
	case err2 != nil:
		return h, err2
	case h.Backup != formVersion || h.Schema > newest:
		return h, cutroom.Errorf(cutroom.Invalid, "the backup is of a newer version of cutroom").
			WithHint("restore it with that version, or a later one (`cutroom version` says which this is)")
	case h.Schema < 1:
		return h, b.broken("there is no schema %d", h.Schema)
	}
	return h, nil
}

// table reads the line before a table's rows, or the last line of all; then the name is
// empty.
func (b *backupReader) table(text []byte, tables []table, rows int64) (table, error) {
	if bytes.HasPrefix(text, []byte(`{"rows"`)) {
		return table{}, b.end(text, rows)
	}
	var line tableLine
	if err := json.Unmarshal(text, &line, json.RejectUnknownMembers(true)); err != nil {
		return table{}, b.broken("it is neither a row nor a table")
	}
	i := slices.IndexFunc(tables, func(t table) bool { return t.name == line.Table })
	if i < 0 {
		return table{}, b.broken("there is no table %.60q", line.Table)
	}
	known, t := tables[i], table{name: line.Table}
	for _, name := range line.Columns {
		j := slices.IndexFunc(known.columns, func(c column) bool { return c.name == name })
		if j < 0 || slices.ContainsFunc(t.columns, func(c column) bool { return c.name == name }) {
			return table{}, b.broken("the table %s has no column %.60q, or has it twice", t.name, name)
		}
		t.columns = append(t.columns, known.columns[j])
	}
	if len(t.columns) != len(known.columns) {
		return table{}, b.broken("columns of %s are missing", t.name)
	}
	return t, nil
}

func (b *backupReader) end(text []byte, rows int64) error {
	var e endLine
	if err := json.Unmarshal(text, &e, json.RejectUnknownMembers(true)); err != nil {
		return b.broken("it is no end of a backup")
	}
	if e.Rows != rows || e.SHA256 != hex.EncodeToString(b.before) {
		return b.broken("the lines before it were changed")
	}
	if _, err := b.r.ReadByte(); !errors.Is(err, io.EOF) {
		return b.broken("something follows the end")
	}
	return nil
}

// row reads a row of t.
func (b *backupReader) row(text []byte, t table) ([]any, error) {
	var fields []jsontext.Value
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, b.broken("it is no row of %s", t.name)
	}
	if len(fields) != len(t.columns) {
		return nil, b.broken("%d values are no row of %s", len(fields), t.name)
	}
	row := make([]any, len(fields))
	for i, f := range fields {
		var err error
		var number int64
		var words string
		switch {
		case string(f) == "null":
			continue
		case t.columns[i].number:
			err = json.Unmarshal(f, &number)
			row[i] = number
		default:
			err = json.Unmarshal(f, &words)
			row[i] = words
		}
		if err != nil {
			return nil, b.broken("the value of %s is of another type", t.columns[i].name)
		}
	}
	return row, nil
}

// read reads all that follows the head. Each table is begun before its rows come; one
// without a name is the end.
func (b *backupReader) read(tables []table, begin func(table) error, add func(row []any) error) ([]TableRows, error) {
	var seen []TableRows
	var rows int64
	var now table
	for {
		text, err := b.line()
		if err != nil {
			return nil, err
		}
		if now.name != "" && bytes.HasPrefix(text, []byte("[")) {
			row, err := b.row(text, now)
			if err == nil {
				err = add(row)
			}
			if err != nil {
				return nil, err
			}
			rows++
			seen[len(seen)-1].Rows++
			continue
		}
		if now, err = b.table(text, tables, rows); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(seen, func(t TableRows) bool { return t.Table == now.name }) {
			return nil, b.broken("the table %s comes twice", now.name)
		}
		if err := begin(now); err != nil {
			return nil, err
		}
		if now.name == "" {
			break
		}
		seen = append(seen, TableRows{Table: now.name})
	}
	if len(seen) != len(tables) {
		return nil, b.broken("tables are missing")
	}
	return seen, nil
}
