package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/compact"
)

// TestSpareResults checks which results of the current turn are removed to make room: nothing of
// earlier turns, of the last calls, of files that the turn changes, of people, and nothing pinned
// or short.
func TestSpareResults(t *testing.T) {
	big := strings.Repeat("a line of a result\n", 100)
	k := new(talk).turn("before").call("fs_grep_files", `{"pattern":"0"}`, big).say("m").
		turn("now").
		file("edited.go", big).
		file("other.go", big).
		call("fs_modify_file", `{"path":"edited.go","patterns":[]}`, "done").
		call("fs_grep_files", `{"pattern":"1"}`, big).
		call("fs_grep_files", `{"pattern":"2"}`, "The user declined this call: "+big).
		call("fs_grep_files", `{"pattern":"3"}`, "short").
		call("fs_grep_files", `{"pattern":"4"}`, big).
		call("fs_grep_files", `{"pattern":"5"}`, big)
	s, n := compact.Pin(k.stream(), "c8")
	if n != 1 {
		t.Fatalf("%d places are pinned", n)
	}
	names := map[int]string{}
	for _, c := range s.Calls() {
		names[c.Response] = c.ID
	}
	for last, want := range map[int]string{0: "c3 c5 c9", 3: "c3 c5", 6: "c3", 9: ""} {
		h, err := compact.HistoryOf(s, compact.ObsoleteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range h.Spare(s, last, compact.ObsoleteOptions{}) {
			got = append(got, names[i])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("but for the last %d: %v, want %s", last, got, want)
		}
		if all := h.Largest(s, 2); len(all) != 2 || !strings.HasPrefix(all[0].What, "the result of fs_") ||
			all[0].Tokens < all[1].Tokens {
			t.Errorf("the largest are %s", fmt.Sprint(all))
		}
	}
}
