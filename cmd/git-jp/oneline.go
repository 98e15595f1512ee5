package main

import (
	"reflect"
	"slices"
	"strings"
)

// lineOf returns the part of [cli] that has one command, by its name or an alias. The model of all
// of them takes a millisecond to build, which git would pay for each commit and for each file
// that it merges or shows, and a person for each command.
func lineOf(command string) (line any, g *globals, ok bool) {
	field, ok := commandField(command)
	if !ok {
		return nil, nil, false
	}
	v := reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "Globals", Type: reflect.TypeFor[globals](), Tag: `embed:""`}, field,
	}))
	return v.Interface(), v.Elem().Field(0).Addr().Interface().(*globals), true
}

// commandField returns the member of [cli] that is a command.
func commandField(command string) (reflect.StructField, bool) {
	for field := range reflect.TypeFor[cli]().Fields() {
		name, named := field.Tag.Lookup("name")
		if !named {
			name = strings.ToLower(field.Name)
		}
		aliases := strings.Split(field.Tag.Get("aliases"), ",")
		if !field.Anonymous && (name == command || slices.Contains(aliases, command)) {
			return field, command != ""
		}
	}
	return reflect.StructField{}, false
}

// calledByGit reports whether git calls a command, and not a person.
func calledByGit(command string) bool {
	return command == "hook" || command == "merge-driver" || command == "textconv"
}
