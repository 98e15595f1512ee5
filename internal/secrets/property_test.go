package secrets_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-jp/git-jp/internal/secrets"
	"pgregory.net/rapid"
)

// pieces returns what texts with secrets consist of: secrets, and what is around and inside them.
func pieces() []string {
	all := []string{
		"password", "PASSWORD", "api_key", " --token", " --password ", "=", ": ", ":", "=>", "\"", "'", "`", " ",
		"\t", "\n", "\\n", "\\\"", "\\\\", "%20", "%3A", "%22", "\x1b[0m", "\x1b[31;1m", "\x1b[", "\\u0022",
		"\\u00", "%2", "Zk3u9sPq1LmX7vBtR5w2", "Tr0ub4dor-9", "[redacted:", "[redacted:text]", "]", "<password>",
		"</password>", "é", "😀", "\\ud83d", "->", "export ", "https://", "user:", "@", "/", "Bearer ", "value=", ">",
		"Authorization: Basic ", "machine ", " login ", " password ", "//", "→", "x", "_", ".", "$", "{", "}", ",", ";",
		"[redacted:github-token]", "\xff",
	}
	for _, p := range plantedSecrets() {
		all = append(all, " "+p.secret+" ") // what is removed between two words would join them
	}
	return all
}

func texts() *rapid.Generator[string] {
	piece := rapid.SampledFrom(pieces())
	return rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(piece, 1, 12).Draw(t, "pieces"), "")
		for _, how := range rapid.SliceOfN(rapid.IntRange(0, 2), 0, 2).Draw(t, "around") {
			switch how {
			case 0:
				quoted, _ := json.Marshal(s)
				s = string(quoted)
			case 1:
				s = url.PathEscape(s)
			case 2:
				s = strings.ReplaceAll(s, "\n", "\x1b[0m\n\x1b[33m")
			}
			s = piece.Draw(t, "before") + s + piece.Draw(t, "behind")
		}
		return s
	})
}

// TestRedactedTextHasNoSecrets checks the ranges of what is found in made-up texts, and that nothing
// is found in such a text without them. That is no law: an expression sees more of a text that has
// become shorter.
func TestRedactedTextHasNoSecrets(t *testing.T) {
	rules, all := secrets.Builtin(), texts()
	for seed := range 3000 {
		text := []byte(all.Example(seed))
		was := slices.Clone(text)
		out, found := rules.Redact(text)
		if !slices.Equal(was, text) {
			t.Fatalf("%q was changed to %q", was, text)
		}
		at := 0
		for _, m := range found {
			if m.Start < at || m.End <= m.Start || m.End > len(text) || m.Public < 0 || m.Public > m.End-m.Start {
				t.Fatalf("%q: range %+v", text, m)
			}
			at = m.End
		}
		if utf8.Valid(text) && !utf8.Valid(out) {
			t.Fatalf("%q: %q is not valid", text, out)
		}
		if again, found := rules.Redact(out); len(found) > 0 {
			t.Fatalf("%q\nredacted  %q\nand again %q", text, out, again)
		}
	}
}
