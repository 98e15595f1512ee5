// Package wire carries requests to providers and their answers back: the HTTP client, which waits
// no longer than it should and follows no redirect, the streams of lines and server-sent events
// that it returns, and the rules of each format that a body must keep before it is sent.
package wire
