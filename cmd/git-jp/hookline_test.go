package main

import (
	"io"
	"reflect"
	"testing"
)

// TestHookLineIsShort counts allocations: what git calls for each commit does not build the
// commands that it cannot be.
func TestHookLineIsShort(t *testing.T) {
	count := func(args ...string) float64 {
		return testing.AllocsPerRun(3, func() {
			w := &world{args: args, stdout: io.Discard, stderr: io.Discard}
			g, k, err := parse(w)
			if err != nil {
				t.Fatal(err)
			}
			if args[0] == "-q" && (!g.Quiet || commandOf(k) != "hook") {
				t.Errorf("%q is %+v, %q", args, *g, commandOf(k))
			}
		})
	}
	hook, all := count("-q", "hook", "pre-commit", "--", "x"), count("version")
	if 4*hook > all {
		t.Errorf("a hook takes %.0f allocations, any command %.0f", hook, all)
	}
}

// TestHookLineIsTheOneOfAllCommands: help and the man page are written from that one.
func TestHookLineIsTheOneOfAllCommands(t *testing.T) {
	field := func(line any, name string) reflect.StructField {
		f, ok := reflect.TypeOf(line).FieldByName(name)
		if !ok {
			t.Fatalf("%T has no %s", line, name)
		}
		f.Index, f.Offset = nil, 0
		return f
	}
	for _, name := range []string{"Hook", "Merge", "Textconv"} {
		if a, b := field(cli{}, name), field(hookLine{}, name); !reflect.DeepEqual(a, b) {
			t.Errorf("%+v\n%+v", a, b)
		}
	}
}
