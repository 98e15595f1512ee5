package redact

import (
	"strings"
	"testing"
)

func TestTextOfOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"secret": "secret", "secret\n": "secret", "secret\r\n": "secret", "two\nlines\n": "two\nlines",
		"short": "", "five5\n": "", "": "", "\n\n\n": "",
	} {
		target, err := Text(strings.NewReader(text))
		if (err == nil) != (want != "") || string(target.Value) != want {
			t.Errorf("%q: got %q, %v, want %q", text, target.Value, err, want)
		}
	}
}
