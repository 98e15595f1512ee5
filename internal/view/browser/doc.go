// Package browser looks at pages in a real browser. It is a module of its own, so that nothing of
// what drives the browser is linked into the program; make test-browser runs it.
package browser
