package scripts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// isJSON is the script command
//
//	is-json FILE
//
// The file is one JSON value.
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: is-json FILE")
	}
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &value))
}

// sameMember is the script command
//
//	same-member NAME FILE...
//
// Each file is an object that has the member, with the same bytes in all of them.
func sameMember(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: same-member NAME FILE...")
	}
	first := ""
	for i, file := range args[1:] {
		var object map[string]json.RawMessage
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &object))
		value := string(object[args[0]])
		if i == 0 {
			first = value
		}
		if value == "" || value != first {
			ts.Fatalf("%s has %s %q, and not %q", file, args[0], value, first)
		}
	}
}

// A definition is the definition of one kind of line in docs/check.schema.json.
type definition struct {
	Required   []string
	Properties map[string]struct{ Enum []any }
}

// conforms is the script command
//
//	conforms FILE
//
// Each line of the file is an object with the members that docs/check.schema.json requires, and no
// others; the last one is a summary.
func conforms(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: conforms FILE")
	}
	data, err := os.ReadFile(filepath.Join(top, "docs", "check.schema.json"))
	ts.Check(err)
	var schema struct {
		Defs map[string]definition `json:"$defs"`
	}
	ts.Check(json.Unmarshal(data, &schema))
	kind := ""
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var object map[string]any
		ts.Check(json.Unmarshal([]byte(line), &object))
		kind, _ = object["type"].(string)
		def, ok := schema.Defs[kind]
		if !ok {
			ts.Fatalf("no such type: %s", line)
		}
		if fault := def.fault(object); fault != "" {
			ts.Fatalf("%s: %s", fault, line)
		}
	}
	if kind != "summary" {
		ts.Fatalf("the last line is no summary")
	}
}

// fault returns how an object violates the definition.
func (d definition) fault(object map[string]any) string {
	for _, name := range d.Required {
		if _, ok := object[name]; !ok {
			return "no member " + name
		}
	}
	for name, value := range object {
		property, ok := d.Properties[name]
		if !ok {
			return "unknown member " + name
		}
		if len(property.Enum) > 0 && !slices.Contains(property.Enum, value) {
			return "unknown value of " + name
		}
	}
	return ""
}
