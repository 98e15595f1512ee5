package command_test

import (
	"encoding/json"
	"testing"

	"github.com/git-jp/git-jp/internal/tool/command"
)

// TestBound checks which schemas restrict a parameter: members that no schema has restrict nothing.
func TestBound(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"string"}`: false, `{"type":"string","pattern":"^a$"}`: true,
		`{"type":"string","Pattern":"^a$"}`: false, `{"type":"string","ENUM":["a"]}`: false,
		`{"type":["integer","null"]}`: true, `{"type":"string","Type":"integer"}`: false,
	} {
		if got := command.Bound(json.RawMessage(schema)); got != want {
			t.Errorf("%s: %t, want %t", schema, got, want)
		}
	}
}
