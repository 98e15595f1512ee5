package merge

import "testing"

// TestHasMarkers verifies that the conflicts of a file are found, also those of git's longer
// markers, and that what only looks like one is none.
func TestHasMarkers(t *testing.T) {
	for text, want := range map[string]bool{
		"a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n": true,
		"<<<<<<<< ours\nb\n========\nc\n>>>>>>>> theirs":   true,
		"<<<<<<< ours\nb\n=======\nc\n":                    false,
		"<<<<<< ours\n>>>>>> theirs\n":                     false,
		" <<<<<<< ours\n >>>>>>> theirs\n":                 false,
		"<<<<<<<\n>>>>>>>\n":                               false,
		"<<<<<<<ours\n>>>>>>>theirs\n":                     false,
	} {
		if got := hasMarkers([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
