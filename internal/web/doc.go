// Package web serves pages of conversations to a browser on this machine.
//
// Anyone who can open the address can read everything, so it is protected. The server listens on
// loopback alone. It answers only requests that name it as their host and come from its own pages,
// so that no other page reaches it through a name that resolves here. Every address has a random
// token. It only reads.
package web
