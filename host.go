package cutroom

import (
	"net/netip"
	"strings"
)

// Loopback says whether a host, without a port and as text, is this machine alone:
// 127.0.0.0/8, ::1, or localhost in any letters. Whoever dials localhost dials 127.0.0.1
// and asks no name service: the text is the promise.
func Loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Zone() == "" && addr.IsLoopback()
}

// Dialled is the host that stands for a host when it is dialled.
func Dialled(host string) string {
	if strings.EqualFold(host, "localhost") {
		return "127.0.0.1"
	}
	return host
}
