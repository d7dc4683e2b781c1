package store_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cutroom"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
	"cutroom/internal/testenv"
)

// fill puts rows of anything into every table that a backup holds.
func fill(t *testing.T, db *sql.DB, seed uint64, rows int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	letters := []rune("aZ09 '\"\\\n\t{}[],:%$;\u00e9\u4e2d\U0001f39e\u2028\x01")
	tables := map[string][]string{}
	var order []string
	for _, c := range columnsOf(t, db) {
		name, col, _ := strings.Cut(c, ".")
		if tables[name] == nil {
			order = append(order, name)
		}
		tables[name] = append(tables[name], col)
	}
	for _, name := range order {
		var marks, cols []string
		for i, c := range tables[name] {
			marks, cols = append(marks, fmt.Sprintf("$%d", i+1)), append(cols, `"`+c+`"`)
		}
		text := fmt.Sprintf(`insert into "%s" (%s) values (%s)`, name, strings.Join(cols, ", "), strings.Join(marks, ", "))
		numbers := numbersOf(t, db, name)
		tx, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		_, err = tx.ExecContext(t.Context(), `delete from "`+name+`"`)
		must(t, err)
		for range rows {
			var args []any
			for _, c := range tables[name] {
				var words strings.Builder
				for range 5 + r.IntN(20) {
					words.WriteRune(letters[r.IntN(len(letters))])
				}
				if numbers[c] {
					args = append(args, int64(r.Uint64()))
				} else {
					args = append(args, words.String())
				}
			}
			_, err := tx.ExecContext(t.Context(), text, args...)
			must(t, err)
		}
		must(t, tx.Commit())
	}
}

func numbersOf(t *testing.T, db *sql.DB, table string) map[string]bool {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `select * from "`+table+`" where 1 = 0`)
	must(t, err)
	defer rows.Close()
	kinds, err := rows.ColumnTypes()
	must(t, err)
	numbers := map[string]bool{}
	for _, k := range kinds {
		numbers[k.Name()] = strings.EqualFold(k.DatabaseTypeName(), "bigint") || strings.EqualFold(k.DatabaseTypeName(), "int8")
	}
	return numbers
}

// made is when the backups of these tests are made.
func made() time.Time { return time.UnixMilli(1_700_000_000_000) }

func backup(t *testing.T, place string) []byte {
	t.Helper()
	var b bytes.Buffer
	_, err := store.Backup(t.Context(), place, made(), &b)
	must(t, err)
	return b.Bytes()
}

// rows is a backup without its first and last line, which say where it is from.
func rows(text []byte) string {
	lines := bytes.SplitAfter(text, []byte("\n"))
	return string(bytes.Join(lines[1:len(lines)-2], nil))
}

// TestMove: a backup of either database makes the other, or itself, what it was of.
func TestMove(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, from string) {
		t.Logf("seed %d", len(from))
		fill(t, storetest.At(t, from), uint64(len(from)), 200)
		text := backup(t, from)
		if n := strings.Count(string(text), "\n"); n < 200*5 {
			t.Fatalf("the backup has %d lines", n)
		}
		storetest.Places(t, func(t *testing.T, to string) {
			c, err := store.Restore(t.Context(), to, bytes.NewReader(text), false)
			must(t, err)
			if c.Rows() < 200*5 || !c.Made.Equal(made()) || c.Schema < 1 {
				t.Errorf("%+v", c)
			}
			if diff := cmp.Diff(rows(text), rows(backup(t, to))); diff != "" {
				t.Error(diff)
			}
			if _, err := store.Restore(t.Context(), to, bytes.NewReader(text), false); cutroom.AsError(err).Code != cutroom.Precondition || !strings.Contains(cutroom.AsError(err).Hint, "--overwrite") {
				t.Errorf("over what is there: %v", err)
			}
			if _, err := store.Restore(t.Context(), to, bytes.NewReader(text), true); err != nil {
				t.Errorf("over what is there, as asked: %v", err)
			}
		})
	})
}

// TestOldBackup: a backup of an earlier schema is brought to ours on its way.
func TestOldBackup(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, from string) {
		_, err := store.Migrate(t.Context(), from, 1)
		must(t, err)
		_, err = bare(t, from).ExecContext(t.Context(), `insert into job (id, space, tool, input, principal_name, principal_role, timeout_ms, state, created) values ('old', 's', 't', '{}', 'a', 'agent', 1, 'queued', 5)`)
		must(t, err)
		text := backup(t, from)
		if schema(t, from) != 1 {
			t.Error("making a backup migrated the database")
		}
		storetest.Places(t, func(t *testing.T, to string) {
			_, err := store.Restore(t.Context(), to, bytes.NewReader(text), false)
			must(t, err)
			var created, n int
			db := storetest.At(t, to)
			must(t, db.QueryRowContext(t.Context(), `select created, (select count(*) from audit_event) from job where id = 'old'`).Scan(&created, &n))
			if created != 5 || n != 0 {
				t.Errorf("%d, %d", created, n)
			}
		})
	})
}

// TestBackupOfOneMoment: what moves between two rows is never in both or in neither.
func TestBackupOfOneMoment(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		db := storetest.At(t, place)
		_, err := db.ExecContext(t.Context(), `insert into worker (id, space, beat) values ('a', 's', 1000), ('z', 's', 0)`)
		must(t, err)
		_, err = db.ExecContext(t.Context(), `insert into job (id, space, tool, input, principal_name, principal_role, timeout_ms, state, created) values ('n', 's', 't', '{}', 'a', 'agent', 1, 'queued', 1000)`)
		must(t, err)
		stop, stopped := make(chan struct{}), make(chan error, 1)
		go func() {
			for {
				select {
				case <-stop:
					stopped <- nil
					return
				default:
				}
				tx, err := db.BeginTx(t.Context(), nil)
				for _, text := range []string{`update worker set beat = beat - 1 where id = 'a'`, `update worker set beat = beat + 1 where id = 'z'`, `update job set created = created + 1`} {
					if err == nil {
						_, err = tx.ExecContext(t.Context(), text)
					}
				}
				if err == nil {
					err = tx.Commit()
				}
				if err != nil {
					stopped <- err
					return
				}
			}
		}()
		moments := map[int]bool{}
		for range 20 {
			text := rows(backup(t, place))
			var a, z, n int
			for line := range strings.Lines(text) {
				_, _ = fmt.Sscanf(line, `["a","s",%d]`, &a)
				_, _ = fmt.Sscanf(line, `["z","s",%d]`, &z)
				if i := strings.Index(line, `,"queued","",0,0,`); strings.HasPrefix(line, `["n",`) && i > 0 {
					_, _ = fmt.Sscanf(line[i+len(`,"queued","",0,0,`):], "%d", &n)
				}
			}
			if a+z != 1000 || n != 1000+z {
				t.Errorf("%d + %d, %d", a, z, n)
			}
			moments[z] = true
		}
		if len(moments) < 2 {
			t.Error("nothing moved")
		}
		close(stop)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

// resum puts the right end to lines that were changed.
func resum(lines []string) string {
	body := strings.Join(lines[:len(lines)-1], "")
	sum := sha256.Sum256([]byte(body))
	n := 0
	for _, l := range lines {
		if strings.HasPrefix(l, "[") {
			n++
		}
	}
	return body + fmt.Sprintf("{\"rows\":%d,\"sha256\":%q}\n", n, hex.EncodeToString(sum[:]))
}

// TestRestoreRefuses: nothing but a whole backup changes the database.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	from := filepath.Join(t.TempDir(), store.Name)
	fill(t, storetest.At(t, from), 7, 3)
	good := string(backup(t, from))
	lines := strings.SplitAfter(strings.TrimSuffix(good, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	at := func(prefix string) int {
		for i, l := range lines {
			if strings.HasPrefix(l, prefix) {
				return i
			}
		}
		t.Fatalf("no line %s", prefix)
		return 0
	}
	edit := func(i int, f func(string) string) string {
		changed := append([]string{}, lines...)
		changed[i] = f(changed[i])
		return resum(changed)
	}
	worker, job := at(`{"table":"worker"`), at(`{"table":"job"`)
	swap := func(a, b string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, a) {
				t.Fatalf("%q is not in %q", a, s)
			}
			return strings.Replace(s, a, b, 1)
		}
	}
	if edit(0, func(s string) string { return s }) != good {
		t.Fatal("the test makes other ends than the program")
	}
	cases := map[string]string{
		"nothing":            "",
		"another file":       "RIFF\x00\x00\x00\x00WAVEfmt ",
		"other JSON":         `{"a": 1}` + "\n",
		"another head":       edit(0, swap(`"schema"`, `"scheme"`)),
		"a head twice":       edit(0, func(s string) string { return s + s }),
		"a newer form":       edit(0, swap(`"cutroom_backup":1`, `"cutroom_backup":2`)),
		"a newer schema":     edit(0, swap(`"schema":`, `"schema":9`)),
		"no schema":          edit(0, swap(`"schema":`, `"schema":-`)),
		"an unknown table":   edit(worker, swap(`"worker"`, `"sqlite_master"`)),
		"quotes in a name":   edit(worker, swap(`"worker"`, `"worker\"; drop table job; --"`)),
		"an unknown column":  edit(worker, swap(`"beat"`, `"pulse"`)),
		"a column twice":     edit(worker, swap(`"beat"`, `"space"`)),
		"a column less":      edit(worker, swap(`,"beat"`, ``)),
		"a table twice":      edit(worker, func(s string) string { return s + lines[job] }),
		"a table less":       edit(worker, func(string) string { return "" }),
		"a row before all":   edit(1, func(s string) string { return lines[worker+1] + s }),
		"a row twice":        edit(worker+1, func(s string) string { return s + s }),
		"a value more":       edit(worker+1, swap(`[`, `["x",`)),
		"a number as text":   edit(worker+1, func(s string) string { return `["a","b","1"]` + "\n" }),
		"text as a number":   edit(worker+1, func(s string) string { return `[1,"b",1]` + "\n" }),
		"too large a number": edit(worker+1, func(s string) string { return `["a","b",9223372036854775808]` + "\n" }),
		"a fraction":         edit(worker+1, func(s string) string { return `["a","b",1.5]` + "\n" }),
		"an object":          edit(worker+1, func(s string) string { return `["a",{},1]` + "\n" }),
		"no value":           edit(worker+1, func(s string) string { return `["a",null,1]` + "\n" }),
		"no UTF-8":           edit(worker+1, func(s string) string { return "[\"\xff\",\"b\",1]\n" }),
		"an empty line":      edit(worker+1, func(s string) string { return "\n" + s }),
		"a changed row":      swap(lines[worker+1], `["a","b",1]`+"\n")(good),
		"a row less":         swap(lines[worker+1], "")(good),
		"more at the end":    good + "\n",
		"itself twice":       good + good,
	}
	for i := 1; i < len(good); i += 1 + len(good)/60 {
		cases[fmt.Sprintf("cut after %d bytes", i)] = good[:i]
	}
	cases["cut before the last byte"] = good[:len(good)-1]
	storetest.Places(t, func(t *testing.T, place string) {
		fill(t, storetest.At(t, place), 8, 3)
		before := rows(backup(t, place))
		for name, text := range cases {
			_, err := store.Restore(t.Context(), place, strings.NewReader(text), true)
			e := cutroom.AsError(err)
			if e == nil || e.Code != cutroom.Invalid || e.Hint == "" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := store.Restore(t.Context(), place, brokenReader{}, true); !errors.Is(err, errBroken) {
			t.Errorf("a file that cannot be read: %v", err)
		}
		if diff := cmp.Diff(before, rows(backup(t, place))); diff != "" {
			t.Error(diff)
		}
	})
}

var errBroken = errors.New("input/output error")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

// TestRestoreKilled: whenever the process is killed, all is old or all is new.
func TestRestoreKilled(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		dir := t.TempDir()
		const size = 300
		texts := map[string]string{}
		for i, name := range []string{"one", "two"} {
			from := filepath.Join(dir, name+".db")
			fill(t, storetest.At(t, from), uint64(i+1), size)
			text := backup(t, from)
			texts[rows(text)] = name
			must(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
		}
		f, err := os.Open(filepath.Join(dir, "one"))
		must(t, err)
		begun := time.Now()
		_, err = store.Restore(t.Context(), place, f, false)
		must(t, err, f.Close())
		whole := time.Since(begun)
		rounds := 12
		if testenv.Soak() {
			rounds = 200
		}
		now, killed := "one", 0
		for i := range rounds {
			next := map[string]string{"one": "two", "two": "one"}[now]
			c := again(t, asRestorer+"="+place, backupPath+"="+filepath.Join(dir, next), "TMPDIR="+dir)
			out, err := c.StdoutPipe()
			must(t, err)
			must(t, c.Start())
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			<-time.After(whole * time.Duration(i+1) / time.Duration(rounds))
			_ = c.Process.Kill()
			if c.Wait() != nil {
				killed++
			}
			is, known := texts[rows(backup(t, place))]
			if !known {
				t.Fatalf("killed in round %d, the database is neither old nor new", i)
			}
			now = is
		}
		if killed == 0 {
			t.Error("no process was killed in time")
		}
		t.Logf("%d of %d were killed", killed, rounds)
	})
}

// TestBackupFile: its own user's alone, never over another, and nothing half made.
func TestBackupFile(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		dir := t.TempDir()
		path := filepath.Join(dir, "backup")
		if !strings.HasPrefix(place, "postgres:") {
			if _, err := store.BackupFile(t.Context(), place, path, made()); cutroom.AsError(err).Code != cutroom.NotFound {
				t.Errorf("of nothing: %v", err)
			}
			if store.Exists(place) {
				t.Error("asking for a backup made a database")
			}
		}
		storetest.At(t, place)
		c, err := store.BackupFile(t.Context(), place, path, made())
		must(t, err)
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode() != 0o600 || len(c.Tables) < 2 {
			t.Errorf("mode %v, %+v", info.Mode(), c)
		}
		before, err := os.ReadFile(path)
		must(t, err)
		must(t, os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "link")))
		for _, name := range []string{"backup", "link", "."} {
			if _, err := store.BackupFile(t.Context(), place, filepath.Join(dir, name), made()); cutroom.AsError(err).Code != cutroom.Conflict {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := store.BackupFile(t.Context(), place, filepath.Join(dir, "nowhere", "b"), made()); cutroom.AsError(err).Code != cutroom.Unavailable || strings.Contains(err.Error(), dir) {
			t.Errorf("%v", err)
		}
		after, err := os.ReadFile(path)
		must(t, err)
		left, err := os.ReadDir(dir)
		must(t, err)
		if !bytes.Equal(before, after) || len(left) != 2 {
			t.Errorf("%v", left)
		}
	})
}
