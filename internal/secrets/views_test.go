package secrets_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/secrets"
)

// TestEscapesOfEscapes: a secret in a string that is quoted up to three times is replaced, and
// nothing beside it, also where one text after the other uses the same memory.
func TestEscapesOfEscapes(t *testing.T) {
	rules := secrets.Builtin()
	secret := "\tghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
	for range 2 {
		for times := range 4 {
			text := strings.Repeat("\"said\"\n", 20) + "token " + secret + "\n" +
				strings.Repeat("\"more\"\n", 20)
			want := strings.Replace(text, secret[1:], secrets.Marker("github-token"), 1)
			for range times {
				text, want = strconv.Quote(text), strconv.Quote(want)
			}
			got, found := rules.Redact([]byte(text))
			if string(got) != want || len(found) != 1 {
				t.Errorf("quoted %d times: %d found, %s", times, len(found), got)
			}
		}
	}
}
