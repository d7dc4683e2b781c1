package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"cutroom/internal/persontest"
)

// passphrase is the operator's, from the visit on that sets it.
const passphrase = "four words nobody guesses"

// operator is the person beside the host: another terminal, without the host's
// environment, and no child of it.
type operator struct {
	l   *lab
	dir string // where the terminal is
}

// types runs a command of ours at a terminal and answers its prompts. The error holds
// what the terminal showed.
func (o operator) types(ctx context.Context, answers []string, args ...string) error {
	t, err := persontest.NewTerminal(answers...)
	if err != nil {
		return err
	}
	_, code, err := o.run(t.File, t.File, args)
	shown := t.Close()
	if err == nil && code != "0" {
		err = fmt.Errorf("cutroom %s: exit code %s: %s", args[0], code, tail(shown))
	}
	return errors.Join(err, ctx.Err())
}

// asks runs a command of ours and reads the document that it prints.
func (o operator) asks(into any, args ...string) error {
	out, code, err := o.run(nil, nil, append(args, "--json"))
	if err != nil {
		return err
	}
	if code != "0" {
		return fmt.Errorf("cutroom %s: exit code %s: %s", args[0], code, tail(string(out)))
	}
	return json.Unmarshal(out, into)
}

func (o operator) run(in, complaints *os.File, args []string) (out []byte, code string, err error) {
	env := []string{"HOME=" + o.l.home, "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8", "TMPDIR=" + o.l.path("tmp")}
	return o.l.orphan(o.dir, env, in, complaints, append([]string{o.l.real()}, args...)...)
}

// state is what became of a request.
func (o operator) state(id string) (string, error) {
	var list struct {
		Approvals []struct {
			ID    string `json:"approval_id"`
			State string `json:"state"`
		} `json:"approvals"`
	}
	if err := o.asks(&list, "approvals", "show", id); err != nil {
		return "", err
	}
	if len(list.Approvals) != 1 || list.Approvals[0].ID != id {
		return "", fmt.Errorf("there is no one request %s", id)
	}
	return list.Approvals[0].State, nil
}

// auditRow is a row of the audit.
type auditRow struct {
	Principal string `json:"principal"`
	Approval  string `json:"approval_id"`
	Outcome   string `json:"outcome"`
}

// rows are those of the audit that the flags of `cutroom audit show` choose.
func (o operator) rows(flags ...string) ([]auditRow, error) {
	var list struct {
		Rows []auditRow `json:"rows"`
	}
	err := o.asks(&list, append([]string{"audit", "show", "--max", "200"}, flags...)...)
	return list.Rows, err
}
