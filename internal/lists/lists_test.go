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

func TestFilter(t *testing.T) {
	even := func(n int) bool { return n%2 == 0 }
	if got := lists.Filter([]int{2, 3, 4}, even); !slices.Equal(got, []int{2, 4}) {
		t.Errorf("got %v", got)
	}
	if got := lists.Filter([]int{1, 3}, even); got != nil {
		t.Errorf("of nothing even: %#v", got)
	}
}

func TestUnion(t *testing.T) {
	got := lists.Union([]int{2, 1, 2}, []int{1, 3, 0, 3})
	if !slices.Equal(got, []int{2, 1, 2, 3, 0}) {
		t.Errorf("got %v", got)
	}
}

func TestNumbers(t *testing.T) {
	if got := lists.Numbers(3); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("got %v", got)
	}
}

func TestSet(t *testing.T) {
	got := lists.Set([]string{"b", "a", "b"})
	if !maps.Equal(got, map[string]bool{"a": true, "b": true}) {
		t.Errorf("got %v", got)
	}
}
