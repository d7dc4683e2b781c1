//go:build unix

package testenv

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// asServer in the environment makes the test binary a process that starts a server,
// says where, and waits for its end.
const asServer = "CUTROOM_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	s, err := ownServer()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(s.dir)
	select {}
}

// TestPostgresEndsWithItsTests: no server and no folder is left of a killed process.
func TestPostgresEndsWithItsTests(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), asServer+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dir string
	if _, err := fmt.Fscanln(out, &dir); err != nil {
		t.Fatal(err)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(pid), "\n")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	gone := func() bool {
		_, err1 := os.Stat(dir)
		_, err2 := os.Stat("/proc/" + first + "/stat")
		return os.IsNotExist(err1) && os.IsNotExist(err2)
	}
	for late := time.After(30 * time.Second); !gone(); {
		select {
		case <-late:
			t.Fatalf("%s or the process %s is still there", dir, first)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// TestPostgresIsItsTestsAlone: it listens on no port, keeps its data through a stop,
// and gives each test a database of its own.
func TestPostgresIsItsTestsAlone(t *testing.T) {
	t.Parallel()
	s := NewPostgres(t)
	if got := s.Do(t, "select current_setting('listen_addresses')"); got != "" {
		t.Errorf("it listens on %q", got)
	}
	one, two := s.Database(t), s.Database(t)
	if one == two || !strings.HasPrefix(one, "postgres:///") {
		t.Errorf("%s and %s", one, two)
	}
	s.Do(t, "create table kept (n bigint)")
	s.Stop()
	if _, err := s.psql("postgres", "select 1"); err == nil {
		t.Error("it answers after its end")
	}
	s.Start(t)
	s.Do(t, "select n from kept")
	info, err := os.Stat(s.dir)
	if err != nil || info.Mode().Perm()&fs.FileMode(0o077) != 0 {
		t.Errorf("%v, %v", info, err)
	}
}
