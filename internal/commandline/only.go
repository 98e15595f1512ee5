package commandline

import (
	"reflect"
	"slices"
	"strings"
)

// Only returns the part of a command line that has one command, by its name or an alias: a pointer
// to a struct of its global flags and of that command. The complete model takes a millisecond to
// build, which git would pay for each commit and for each file that it merges or shows, and a
// person for each command.
func Only(line, globals reflect.Type, command string) (part reflect.Value, ok bool) {
	field, ok := commandField(line, command)
	if !ok {
		return part, false
	}
	return reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "Globals", Type: globals, Tag: `embed:""`}, field,
	})), true
}

// commandField returns the member of a command line that is a command.
func commandField(line reflect.Type, command string) (reflect.StructField, bool) {
	for field := range line.Fields() {
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
