// Package browser tests pages in a real browser. It is a separate module, so that the code that
// drives the browser is not linked into the program; make test-browser runs it.
package browser
