// Package origin says which requests over HTTP are meant for this server, by the names
// that they carry.
//
// It promises that a page of another origin, and a name that such a page made resolve to
// this machine (DNS rebinding), open no door. It must never know a door or a token.
package origin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cutroom"
)

// Names are the hosts that a server is reached by besides those of this machine, without
// ports.
type Names []string

// Has says whether a host, without its port, is one of the server's.
func (n Names) Has(host string) bool {
	return cutroom.Loopback(host) || host != "" && slices.ContainsFunc(n, func(h string) bool { return strings.EqualFold(h, host) })
}

// Allow says whether a request comes from a page of the server's, or from a program:
// programs send no Origin.
func (n Names) Allow(h http.Header) bool {
	values := h.Values("Origin")
	if len(values) == 0 {
		return true
	}
	u, err := url.Parse(values[0])
	return err == nil && len(values) == 1 && (u.Scheme == "http" || u.Scheme == "https") && n.Has(u.Hostname())
}
