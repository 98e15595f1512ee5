package wire

import "testing"

// TestLinesAreLookedAtOnce checks that bytes which arrive in small reads are searched once: the
// time for a long line must not be quadratic in its length. Earlier bytes change between the reads,
// which would be noticed if they were searched again.
func TestLinesAreLookedAtOnce(t *testing.T) {
	l := newLineReader(nil)
	for _, seen := range []string{"aaa", "\n\n\nbb"} {
		if n, line, err := l.split([]byte(seen), false); n != 0 || line != nil || err != nil {
			t.Fatalf("of %q, which has no end, %d bytes are %q, %v", seen, n, line, err)
		}
	}
	if n, line, err := l.split([]byte("aaabbc\r"), false); n != 7 || string(line) != "aaabbc" || err != nil {
		t.Errorf("%d bytes are %q, %v", n, line, err)
	}
	if n, line, err := l.split([]byte("\nd\n"), false); n != 3 || string(line) != "d" || err != nil {
		t.Errorf("after a CR %d bytes are %q, %v", n, line, err)
	}
}
