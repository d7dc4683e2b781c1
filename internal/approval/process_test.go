package approval

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
)

// asRival in the environment makes the test binary one of several processes that try
// the same thing at once: it holds what to try.
const asRival = "CUTROOM_TEST_APPROVAL"

func TestMain(m *testing.M) {
	if text := os.Getenv(asRival); text != "" {
		os.Exit(rival(text))
	}
	os.Exit(m.Run())
}

// attempt is what a rival tries.
type attempt struct {
	Place, Folder string
	What          string // approve, spend, grant
	Bound         Bound
	ID            string
}

// rival opens everything, says that it is ready, waits for the word and tries.
func rival(text string) int {
	var a attempt
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		fmt.Println(err)
		return 1
	}
	ctx := context.Background()
	db, err := store.Open(ctx, a.Place)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer db.Close()
	b := New(Options{Open: func(context.Context) (*sql.DB, error) { return db, nil }, Folder: a.Folder})
	try := map[string]func() error{
		"approve": func() error {
			seal, err := b.Seal(nil, a.Bound.Digest(), "operator")
			if err != nil {
				return err
			}
			_, err = b.Approve(WithSeal(ctx, seal), cutroom.Operator, a.ID, 0)
			return err
		},
		"spend": func() error { return b.Spend(ctx, Candidate{Bound: a.Bound}, Pass{ID: a.ID}) },
		"grant": func() error {
			c := covered()
			return b.Spend(ctx, c, Pass{a.ID, true})
		},
		"file": func() error {
			got, err := b.File(ctx, Request{Bound: a.Bound, Input: []byte(`{}`)})
			if err == nil {
				fmt.Print(got.ID, " ")
			}
			return err
		},
	}[a.What]
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	if err := try(); err != nil {
		e := cutroom.AsError(err)
		fmt.Println(e.Code, e.Msg, e.Err)
		return 0
	}
	fmt.Println("won")
	return 0
}

// race lets n processes try at once and returns what each said.
func race(t *testing.T, n int, a attempt) []string {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	commands, goes, said := make([]*exec.Cmd, n), make([]io.WriteCloser, n), make([]*bufio.Reader, n)
	for i := range commands {
		c := exec.CommandContext(t.Context(), self)
		c.Env = append(os.Environ(), asRival+"="+string(text))
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		commands[i], goes[i], said[i] = c, in, bufio.NewReader(out)
	}
	for _, out := range said {
		if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
			t.Fatalf("%q, %v", line, err)
		}
	}
	for _, in := range goes {
		if _, err := io.WriteString(in, "go\n"); err != nil {
			t.Fatal(err)
		}
	}
	var answers []string
	for i, c := range commands {
		rest, err := io.ReadAll(said[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		answers = append(answers, strings.TrimSpace(string(rest)))
	}
	return answers
}

func count(list []string, want string) (n int) {
	for _, s := range list {
		if strings.HasSuffix(s, want) {
			n++
		}
	}
	return n
}

// TestTenProcesses: of ten processes that ask for the same call all get one request; of
// ten that approve it, of ten that spend it, exactly one wins; ten with a grant for
// three get three.
func TestTenProcesses(t *testing.T) {
	t.Parallel()
	storetest.Places(t, func(t *testing.T, place string) {
		db := storetest.At(t, place)
		folder := filepath.Join(t.TempDir(), "keys")
		b := New(Options{Open: func(context.Context) (*sql.DB, error) { return db, nil }, Folder: folder})
		bound := overwriting()
		a := attempt{Place: place, Folder: folder, What: "file", Bound: bound}
		filed := race(t, 10, a)
		if id, _, _ := strings.Cut(filed[0], " "); count(filed, id+" won") != 10 || id == "" {
			t.Fatalf("%q", filed)
		} else {
			a.ID = id
		}
		a.What = "approve"
		if said := race(t, 10, a); count(said, "won") != 1 {
			t.Errorf("approved: %q", said)
		}
		a.What = "spend"
		if said := race(t, 10, a); count(said, "won") != 1 {
			t.Errorf("spent: %q", said)
		}
		g := standing()
		g.Uses = 3
		made, err := b.Grant(t.Context(), cutroom.Operator, nil, g, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		a.What, a.ID = "grant", made.ID
		if said := race(t, 10, a); count(said, "won") != 3 {
			t.Errorf("granted: %q", said)
		}
	})
}
