package lists_test

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/git-jp/git-jp/internal/lists"
)

func TestMap(t *testing.T) {
	if got := lists.Map([]int{3, 1, 3}, strconv.Itoa); !slices.Equal(got, []string{"3", "1", "3"}) {
		t.Errorf("got %q", got)
	}
	if got := lists.Map(nil, strconv.Itoa); got == nil || len(got) != 0 {
		t.Errorf("of nothing: %#v", got) // JSON has null for nil
	}
}

func TestSet(t *testing.T) {
	got := lists.Set([]string{"b", "a", "b"})
	if !maps.Equal(got, map[string]bool{"a": true, "b": true}) {
		t.Errorf("got %v", got)
	}
}
