package main

import (
	"reflect"

	"github.com/git-jp/git-jp/internal/commandline"
)

// lineOf returns the part of [cli] with one command, by its name or an alias.
func lineOf(command string) (line any, g *globals, ok bool) {
	part, ok := commandline.Only(reflect.TypeFor[cli](), reflect.TypeFor[globals](), command)
	if !ok {
		return nil, nil, false
	}
	return part.Interface(), part.Elem().Field(0).Addr().Interface().(*globals), true
}

// calledByGit reports whether git calls a command, and not a person.
func calledByGit(command string) bool {
	return command == "hook" || command == "merge-driver" || command == "textconv"
}
