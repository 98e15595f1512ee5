package jsonspan

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzCursor: everything that a cursor accepts is JSON without duplicate names.
func FuzzCursor(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5,"é\n\u00e9",null,true,false,{}],"b":{"a":1}}`, ` [ ] `, `"12345678"`, `1`,
		`{"a":1,"a":2}`, `{"":1,"":2}`, "\"\xff\"", `"\ud800"`, `[1,]`, `{"a":1,}`, `01`, `1.`, `-`,
		`nul`, `[1 2]`, `{"a" 1}`, "\"\t\"", `"`, `{`, `1 2`, "[\"1234567\x1f\"]", `"\"`, `"\u12G4"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := Cursor{B: data}
		c.Space()
		if c.Value(); c.End() && !jsontext.Value(data).IsValid() {
			t.Fatalf("%q is no JSON", data)
		}
	})
}
