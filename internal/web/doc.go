// Package web serves pages of conversations to a browser on this machine.
//
// Whoever can open the address reads everything, so it is kept from others: the server listens on
// loopback alone, answers only requests that name it as their host and come from its own pages, so
// that no page of somebody's reaches it through a name of its own, and every address has a random
// token. It only reads.
package web
