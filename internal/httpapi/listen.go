package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"cutroom"
)

// ListenOptions say where a handler is served.
type ListenOptions struct {
	Addr      string // host and port; a host of this machine unless there is a certificate
	Local     bool   // a host of this machine in any case
	Cert, Key string // files in PEM; both or none
	Handler   http.Handler
	// Base is the context of the requests, which ends with the server's own; nil is that.
	Base func(context.Context) context.Context
	// After waits for what requests left behind, when the server was told to stop and has
	// ended; its context ends when the time for that is over. nil: there is nothing.
	After func(context.Context)
	// Ready is called with the address that is really listened on.
	Ready func(net.Addr)
}

// stopGrace is how long what is at work may go on when the server stops.
const stopGrace = 10 * time.Second

// Check refuses an address that others could listen in on: another machine's traffic
// carries tokens and media.
func (o ListenOptions) Check() error {
	host, _, err := net.SplitHostPort(o.Addr)
	switch {
	case err != nil:
		return cutroom.Errorf(cutroom.Invalid, "%q is no address", o.Addr).WithHint("give one such as 127.0.0.1:7788")
	case o.Local && !cutroom.Loopback(host):
		return cutroom.Errorf(cutroom.Denied, "%q is not an address of this machine alone: whoever reached it could read and write with your rights", o.Addr).
			WithHint("use 127.0.0.1, and for other machines a proxy of yours that encrypts")
	case (o.Cert == "") != (o.Key == ""):
		return cutroom.Errorf(cutroom.Invalid, "a certificate and its key belong together").WithHint("give both --tls-cert and --tls-key")
	case !cutroom.Loopback(host) && o.Cert == "":
		return cutroom.Errorf(cutroom.Denied, "%q is reached from other machines, and there is no certificate", o.Addr).
			WithHint("give --tls-cert and --tls-key, or serve 127.0.0.1 behind a proxy of yours that encrypts")
	}
	return nil
}

// Remote says whether other machines reach the address.
func (o ListenOptions) Remote() bool {
	host, _, err := net.SplitHostPort(o.Addr)
	return err == nil && !cutroom.Loopback(host)
}

// Listen serves until ctx is done: then nothing new is taken, and what is at work has
// stopGrace to end.
func Listen(ctx context.Context, o ListenOptions) error {
	if err := o.Check(); err != nil {
		return err
	}
	server := &http.Server{
		Handler: o.Handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // it tells of every client that breaks off
	}
	requests, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	base := requests
	if o.Base != nil {
		base = o.Base(requests)
	}
	server.BaseContext = func(net.Listener) context.Context { return base }
	if o.Cert != "" {
		c := &certificate{cert: o.Cert, key: o.Key}
		if _, err := c.get(nil); err != nil {
			return cutroom.Errorf(cutroom.Invalid, "the certificate cannot be used").WithCause(err).WithHint("--tls-cert and --tls-key name files in PEM that belong together")
		}
		server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Addr)
	if err != nil {
		return cutroom.Errorf(cutroom.Conflict, "%q cannot be listened on", o.Addr).WithCause(err).WithHint("choose another port, or 0 for a free one")
	}
	ended := make(chan error, 1)
	go func() {
		if o.Cert != "" {
			ended <- server.ServeTLS(l, "", "")
		} else {
			ended <- server.Serve(l)
		}
	}()
	if o.Ready != nil {
		o.Ready(l.Addr())
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	if server.Shutdown(stop) != nil {
		giveUp()
		_ = server.Close() // what did not end by itself
	}
	<-ended
	if o.After != nil {
		o.After(stop)
	}
	return nil
}

// certificate is the server's, read again when its file was renewed.
type certificate struct {
	cert, key string

	mu   sync.Mutex
	at   time.Time // of the file that was read
	last *tls.Certificate
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Stat(c.cert)
	if err == nil && c.last != nil && info.ModTime().Equal(c.at) {
		return c.last, nil
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(c.cert, c.key)
	}
	switch {
	case err == nil:
		c.last, c.at = &pair, info.ModTime()
	case c.last == nil:
		return nil, errors.Join(errors.New("there is no certificate"), err)
	}
	return c.last, nil // while it is being renewed, the one before
}
