// Package transport carries MCP messages: newline-delimited JSON-RPC on standard
// input and output, and streamable HTTP.
//
// It promises that any bytes are survived: what is no message is answered with a
// JSON-RPC error or properly ignored, and the next one is served. It knows the
// protocol's envelope and must never know a tool.
package transport

// Largest messages, in bytes: one host closes the connection for more than 16 MiB
// towards it, another stops answering; a tool's answer needs far less.
const (
	MaxIn  = 16 << 20
	MaxOut = 8 << 20
)

// modern is the first version of the protocol that has neither handshake nor session.
const modern = "2026-07-28"
