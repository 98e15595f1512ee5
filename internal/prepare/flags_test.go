package prepare_test

import (
	"errors"
	"testing"

	"github.com/git-jp/git-jp/internal/prepare"
)

// TestFlagsOfTheModel checks the configuration changes of flags, and that a fault is an AskedError.
func TestFlagsOfTheModel(t *testing.T) {
	for _, tt := range []struct {
		flags prepare.Flags
		want  string
	}{
		{prepare.Flags{}, ""},
		{prepare.Flags{Model: "p/m"}, `{"assistant":{"model":{"id":"p/m"}}}`},
		{
			prepare.Flags{Params: []string{"temperature=0.5", "style=plain"}},
			`{"assistant":{"model":{"parameters":{"style":"plain","temperature":0.5}}}}`,
		},
		{
			prepare.Flags{Reasoning: "off"},
			`{"assistant":{"model":{"parameters":{"reasoning":"off"}}}}`,
		},
		{
			prepare.Flags{Reasoning: "high"},
			`{"assistant":{"model":{"parameters":{"reasoning":{"effort":"high"}}}}}`,
		},
		{
			prepare.Flags{Reasoning: "2000"},
			`{"assistant":{"model":{"parameters":{"reasoning":{"effort":{"absolute":2000}}}}}}`,
		},
	} {
		values, err := tt.flags.Values()
		if got := string(values["--model"]); err != nil || got != tt.want {
			t.Errorf("%+v: %s, %v; want %s", tt.flags, got, err, tt.want)
		}
	}
	for _, wrong := range []prepare.Flags{
		{Params: []string{"temperature"}},
		{Params: []string{"=1"}},
		{Params: []string{"messages=[]"}},
		{Params: []string{"temperature=hot"}},
		{Reasoning: "much"},
	} {
		_, err := wrong.Values()
		if _, ok := errors.AsType[*prepare.AskedError](err); !ok {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}
