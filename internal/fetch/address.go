// Package fetch knows the addresses that may be fetched from: the rules that an
// address passes before anything is resolved, sent or started.
//
// It promises that no literal form of a private address passes. It must never know
// a tool or a policy.
package fetch

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"cutroom"
)

const maxAddress = 16 << 10

// localNames are suffixes that never name a public host (RFC 6761, RFC 6762,
// RFC 8375, RFC 7686, and common private use).
var localNames = []string{".local", ".localhost", ".internal", ".lan", ".home.arpa", ".onion", ".test", ".invalid", ".example"}

// ParseAddress checks an address and returns its canonical form: host in ASCII
// (UTS 46), default port and fragment removed. It resolves nothing: what a name
// resolves to is checked again when it is dialled.
func ParseAddress(text string) (*url.URL, error) {
	bad := func(what string) error {
		return cutroom.Errorf(cutroom.Invalid, "the address %s", what).WithHint("give an absolute http or https address of a public host")
	}
	if !utf8.ValidString(text) {
		return nil, bad("is not UTF-8")
	}
	if len(text) > maxAddress {
		return nil, bad("is longer than 16 KiB")
	}
	for _, c := range text {
		if c <= ' ' || c == '\\' || c == 0x7f || (c >= 0x80 && c < 0xa0) {
			return nil, bad("holds a space, a backslash or a control character")
		}
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return nil, bad("is not an absolute http or https address")
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, bad("is neither http nor https")
	}
	if u.User != nil {
		return nil, bad("holds a user name or a password")
	}
	if p := u.Port(); p != "" && p != "80" && p != "443" || strings.HasSuffix(u.Host, ":") {
		return nil, bad("names another port than 80 and 443")
	}
	host, err := publicHost(u.Hostname())
	if err != nil {
		return nil, bad(err.Error())
	}
	if p := u.Port(); p != "" && (u.Scheme != "http" || p != "80") && (u.Scheme != "https" || p != "443") {
		host += ":" + p
	}
	u.Host, u.Fragment, u.RawFragment = host, "", ""
	return u, nil
}

type hostFault string

func (h hostFault) Error() string { return string(h) }

// publicHost refuses hosts that are not, or may not be, public: every literal form
// of an address that is not global unicast, single labels and local names.
func publicHost(host string) (string, error) {
	if addr, ok := literal(host); ok {
		if !global(addr) {
			return "", hostFault("is of a private, local or special network")
		}
		if addr.Is6() {
			return "[" + addr.String() + "]", nil
		}
		return addr.String(), nil
	}
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if again, err2 := idna.Lookup.ToASCII(ascii); err != nil || err2 != nil || again != ascii || ascii == "" || strings.Contains(ascii, "..") {
		return "", hostFault("names no valid host")
	}
	if last := ascii[strings.LastIndexByte(ascii, '.')+1:]; strings.Trim(last, "0123456789") == "" {
		if _, ok := literal(ascii); !ok {
			return "", hostFault("ends in a number without being an address")
		}
	}
	if _, ok := literal(ascii); ok {
		return publicHost(ascii)
	}
	if !strings.Contains(ascii, ".") {
		return "", hostFault("names a host without a domain")
	}
	for _, n := range localNames {
		if strings.HasSuffix("."+ascii, n) {
			return "", hostFault("names a local host")
		}
	}
	return ascii, nil
}

// literal reads an address in any form that resolvers accept: dotted with one to
// four parts, decimal, octal or hexadecimal (inet_aton(3)), and IPv6.
func literal(host string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.WithZone("").Unmap(), true
	}
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) == 0 || len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 64)
		if p == "" || err != nil || strings.Contains(p, "_") {
			return netip.Addr{}, false
		}
		last := i == len(parts)-1
		if !last && n > 255 {
			return netip.Addr{}, false
		}
		if !last {
			value |= n << (24 - 8*i)
			continue
		}
		if n >= 1<<(8*(4-i)) {
			return netip.Addr{}, false
		}
		value |= n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// special are the blocks that are not globally reachable although they look like
// unicast (IANA special-purpose registries).
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("3fff::/20"), netip.MustParsePrefix("5f00::/16"), netip.MustParsePrefix("fec0::/10"),
}

func global(a netip.Addr) bool {
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
