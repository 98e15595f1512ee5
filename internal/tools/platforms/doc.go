// Package main checks the sources, and their tests, for systems on which no one runs them: each
// package has to compile, and go vet's analyzers have to find nothing.
//
// It reads sources, also those of other modules. go vet finds the same, but first compiles every
// dependency for each system. That takes nine times as much processor time with an empty build
// cache.
package main
