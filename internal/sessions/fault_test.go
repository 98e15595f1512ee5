package sessions_test

import (
	"testing"

	"github.com/git-jp/git-jp/internal/sessions"
)

// TestFaultsAreInWords checks that an error about a record says what is wrong in it, and nothing of
// how the program is written.
func TestFaultsAreInWords(t *testing.T) {
	type inner struct {
		On bool `json:"on"`
		N  int  `json:"n"`
	}
	for line, want := range map[string]string{
		`"x"`:                 "the value is a string, not an object",
		`[]`:                  "the value is a list, not an object",
		`{"a":3}`:             "/a is a number, not a string",
		`{"list":{}}`:         "/list is an object, not a list",
		`{"list":[{"on":1}]}`: "/list/0/on is a number, not true or false",
		`{"list":[{"n":""}]}`: "/list/0/n is a string, not such a number",
		`{"a":tru}`:           "it is no JSON from byte 9 on: invalid character '}' in literal true (expecting 'e')",
		`{"a":`:               "it is no JSON from byte 6 on: unexpected EOF",
	} {
		var r struct {
			A    string  `json:"a"`
			List []inner `json:"list"`
		}
		if err := sessions.Unmarshal([]byte(line), &r); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
