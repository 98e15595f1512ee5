package config

import (
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestJSON5(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{}`, `{}`},
		{`{a: 1, 'b': "x", "c": 'y',}`, `{"a":1,"b":"x","c":"y"}`},
		{`{$_ä1\u0062: null, while: true}`, `{"$_ä1b":null,"while":true}`},
		{`{a: [1, 2, ], b: [,] }`, ""},
		{`{a: [ /* one */ 1, // two
		2 /**/ , ] }`, `{"a":[1,2]}`},
		{
			`{a: +1, b: -1, c: .5, d: 5., e: -.5e3, f: 0xFf, g: -0x10, h: 5.e3, i: 1e2}`,
			`{"a":1,"b":-1,"c":0.5,"d":5.0,"e":-0.5e3,"f":255,"g":-16,"h":5.0e3,"i":1e2}`,
		},
		{`{a: 9007199254740993}`, `{"a":9007199254740993}`},
		{`{a: 'it\'s "so" \x41\u00e4\uD83D\uDE00\v\0\q'}`, "{\"a\":\"it's \\\"so\\\" Aä😀\\u000b\\u0000q\"}"},
		{"{a: 'one \\\ntwo \\\r\nthree'}", `{"a":"one two three"}`},
		{"\ufeff{\u00a0a:\u20281}", `{"a":1}`},
		{`{a: "` + "\u2028" + `"}`, "{\"a\":\"\u2028\"}"},
		{`{a: {b: {c: [[], {}]}}}`, `{"a":{"b":{"c":[[],{}]}}}`},
		{`{a: Infinity}`, ""},
		{`{a: -NaN}`, ""},
		{`{a: b}`, ""},
		{`{a: 01}`, ""},
		{`{a: 0x}`, ""},
		{`{a: .}`, ""},
		{`{a: 1 2}`, ""},
		{`{a: 1/**/2}`, ""},
		{`{a 1}`, ""},
		{`{a: 1,,}`, ""},
		{`{,}`, ""},
		{`,`, ""},
		{`{a: 1}}`, ""},
		{`{a: 1]`, ""},
		{`{a: 'x`, ""},
		{"{a: 'x\n'}", ""},
		{`{a: '\1'}`, ""},
		{`{a: '\u12'}`, ""},
		{`{a: 1 /* `, ""},
		{`{a: 1} {b: 2}`, ""},
		{`{1: 2}`, ""},
		{`{#: 2}`, ""},
		{``, ""},
		{`[1]`, ""}, // not a table
	} {
		got, err := decodeJSON5([]byte(tt.in))
		if tt.want == "" {
			if err == nil {
				t.Errorf("%s: %v, want an error", tt.in, got)
			}
			continue
		}
		var want map[string]any
		if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
			t.Fatal(err)
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v, want %v", tt.in, got, err, want)
		}
	}
}

func TestJSON5SaysWhere(t *testing.T) {
	_, err := decodeJSON5([]byte("{\n  a: 1,\n  b: c,\n}"))
	var pe *placedError
	if !errors.As(err, &pe) || pe.pos != (position{3, 6}) {
		t.Errorf("%v at %+v, want 3:6", err, pe)
	}
}

// TestJSON5IsLinear compares the allocations for texts of single and double length.
func TestJSON5IsLinear(t *testing.T) {
	const n = 20_000
	for name, text := range map[string]func(n int) string{
		"deep":    func(n int) string { return strings.Repeat("[", n) },
		"list":    func(n int) string { return "{a:[" + strings.Repeat("1,", n) + "]}" },
		"nested":  func(n int) string { return "{a:[" + strings.Repeat("[[[[]]]],", n/4) + "]}" },
		"string":  func(n int) string { return `{a:'` + strings.Repeat(`\n`, n) + `'}` },
		"comment": func(n int) string { return strings.Repeat("/**/", n) + "{}" },
		"number":  func(n int) string { return "{a:" + strings.Repeat("9", n) + "}" },
		"hex":     func(n int) string { return "{a:0x" + strings.Repeat("f", n) + "}" },
	} {
		once, twice := []byte(text(n)), []byte(text(2*n))
		bytes := func(data []byte) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _ = decodeJSON5(data)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if a, b := bytes(once), bytes(twice); float64(b) > 2.5*float64(a)+(16<<10) {
			t.Errorf("%s: %d bytes, and %d for twice as much", name, a, b)
		}
	}
}
