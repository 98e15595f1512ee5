// Package main examines the sources, and their tests, as systems have them on which nobody runs
// them: each package has to compile, and go vet's analyzers have to find nothing.
//
// It reads sources, those of other modules too. go vet finds the same, and makes code of every
// dependency first, for each system. That takes nine times as much processor time where nothing
// is in the build cache.
package main
