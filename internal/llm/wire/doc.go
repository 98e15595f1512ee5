// Package wire sends requests to providers and reads their answers: it has the HTTP client, with
// limits for waiting and without redirects, the readers for streams of lines and server-sent
// events, and the rules of each format that a body is checked by before it is sent.
package wire
