package commandline

import "testing"

// TestTroffKeepsText verifies that no text of ours can become a request.
func TestTroffKeepsText(t *testing.T) {
	for text, want := range map[string]string{
		`a\b-c`: `a\eb\-c`, ".x": `\&.x`, "'x": `\&'x`, "a\n.b\n'c": "a\n\\&.b\n\\&'c", "": "",
	} {
		if got := troff(text); got != want {
			t.Errorf("troff(%q) = %q, want %q", text, got, want)
		}
	}
}
