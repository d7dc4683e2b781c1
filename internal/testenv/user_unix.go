//go:build unix

package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// unprivileged has cmd run as this user, or as nobody in particular where that is
// root, which PostgreSQL refuses; and in a session of its own, so that what ends the
// tests from a terminal leaves it to its watchdog.
func unprivileged(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := nobody()
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	return err
}

// giveAway makes dir that user's.
func giveAway(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := nobody()
	if err != nil {
		return err
	}
	return os.Chown(dir, int(uid), int(gid))
}

// nobody is a user with few rights that the system knows by name: initdb asks for it.
func nobody() (uid, gid uint32, err error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		id, err1 := strconv.ParseUint(u.Uid, 10, 32)
		group, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return uint32(id), uint32(group), nil
		}
	}
	return 0, 0, fmt.Errorf("root cannot run PostgreSQL, and there is no user nobody to run it as")
}
