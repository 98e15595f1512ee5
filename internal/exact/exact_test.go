package exact_test

import (
	"testing"

	"github.com/git-jp/git-jp/internal/exact"
)

func TestNamesAreExact(t *testing.T) {
	var v struct {
		Args []string `json:"args"`
	}
	err := exact.Unmarshal([]byte(`{"ARGS":["1"],"args":["2"],"argſ":["3"],"other":4}`), &v)
	if err != nil || len(v.Args) != 1 || v.Args[0] != "2" {
		t.Errorf("args are %q (%v)", v.Args, err)
	}
}
