// Package httpapi is the server's front door: one address at which hosts call tools and
// programs ask models.
//
// It promises that a request which a page in a browser could have been tricked into, that
// has no valid token for the door behind, that is too large, or that stops moving, never
// gets any further; that the door behind learns whose token it was and never the token;
// and that stopping lets what is at work end. It does no work, and must never know a tool
// or a model: the doors behind are handlers that main gives it.
package httpapi
