package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/schema"
)

func TestValidate(t *testing.T) {
	tests := []struct{ name, schema, value, want string }{
		{"a type", `{"type":"string"}`, `1`, `has type "integer", want "string"`},
		{"an enum", `{"enum":["a","b"]}`, `"c"`, "does not equal any of"},
		{"an enum that holds", `{"enum":["a","b"]}`, `"b"`, ""},
		{"a pattern", `{"pattern":"^[a-z]+$"}`, `"a b"`, "does not match"},
		{"a range", `{"minimum":1,"maximum":3}`, `4`, "greater than"},
		{"a length", `{"maxLength":2}`, `"abc"`, "more than 2"},
		{"a member too many", `{"properties":{"a":{}},"additionalProperties":false}`, `{"b":1}`, "unexpected"},
		{"a member of a member", `{"properties":{"a":{"required":["b"]}}}`, `{"a":{}}`, "missing properties"},
		{"an item", `{"items":{"type":"integer"}}`, `[1,"x"]`, "want \"integer\""},
		{"one of", `{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `true`, "oneOf"},
		{"a reference", `{"$ref":"#/$defs/a","$defs":{"a":{"type":"integer"}}}`, `"x"`, "integer"},
		{"a name that is escaped", `{"$ref":"#/$defs/a~1b%20c","$defs":{"a/b c":{"type":"integer"}}}`, `1`, ""},
		{
			"a tree", `{"properties":{"left":{"$ref":"#"},"right":{"$ref":"#"}},"additionalProperties":false}`,
			`{"left":{"left":{},"right":{"left":{}}},"right":{"up":1}}`, "unexpected",
		},
		{"an older draft", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"string"}`, `1`, "string"},
		{"a draft that is known", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}]}`, `[1]`, "string"},
		{"where it lies", `{"$id":"https://a.example/x","$ref":"#/definitions/a","definitions":{"a":{"type":"null"}}}`, `1`, "null"},
		{"anything", `true`, `{"a":[1]}`, ""},
		{"nothing", `false`, `1`, "not"},
		{"no JSON", `{}`, `{`, "not JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := schema.Compile([]byte(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			err = s.Validate([]byte(tt.value))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error is %v, want %q", err, tt.want)
			}
		})
	}
}

func TestWhatIsRefused(t *testing.T) {
	// Each level needs twice the work of the next.
	var doubling strings.Builder
	for i := range 40 {
		fmt.Fprintf(&doubling, `"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	tests := []struct{ name, schema, want string }{
		{"an address", `{"$ref":"https://a.example/schema.json"}`, "points outside"},
		{"a file", `{"properties":{"a":{"$ref":"file:///etc/passwd"}}}`, "points outside"},
		{"a file beside it", `{"properties":{"a":{"$ref":"other.json#/a"}}}`, "points outside"},
		{"an anchor", `{"$ref":"#a","$defs":{"a":{"$anchor":"a"}}}`, "points outside"},
		{"nothing there", `{"$ref":"#/$defs/a"}`, "does not resolve"},
		{"itself", `{"$ref":"#"}`, "refers to itself"},
		{"a circle", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`, "refers to itself"},
		{"a circle below a member", `{"properties":{"a":{"$ref":"#/properties/a"}}}`, "refers to itself"},
		{"work that doubles", `{"$ref":"#/$defs/a0","$defs":{` + doubling.String() + `"a40":{}}}`, "too long"},
		{"nesting", strings.Repeat(`{"not":`, 300) + `{}` + strings.Repeat(`}`, 300), "nested"},
		{"an identifier within", `{"properties":{"a":{"$id":"https://a.example/"}}}`, "$id"},
		{"a dynamic reference", `{"$dynamicRef":"#a"}`, "$dynamicRef"},
		{"a pattern that looks back", `{"pattern":"(a)\\1"}`, "pattern"},
		{"no type", `{"type":"text"}`, "not a type"},
		{"no schema", `[1]`, "cannot unmarshal"},
		{"a cut schema", `{"type":`, "unexpected end"},
		{"size", `{"description":"` + strings.Repeat("a", 1<<20) + `"}`, "bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := schema.Compile([]byte(tt.schema)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q", err, tt.want)
			}
		})
	}
}

// TestWorkThatAValueMakes checks that a value whose validation takes long is refused, though the
// schema itself is finite.
func TestWorkThatAValueMakes(t *testing.T) {
	s, err := schema.Compile([]byte(
		`{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	value := strings.Repeat(`{"a":`, 35) + `1` + strings.Repeat(`}`, 35)
	if err := s.Validate([]byte(value)); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("error is %v", err)
	}
}

func TestAReasonIsShort(t *testing.T) {
	s, err := schema.Compile([]byte(`{"enum":["a"]}`))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Validate([]byte(`"` + strings.Repeat("ä", 5000) + `"`))
	if err == nil || len(err.Error()) > 600 || !strings.Contains(err.Error(), "ää…") {
		t.Errorf("error is %v", err)
	}
}
