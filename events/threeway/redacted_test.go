package threeway_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
)

// imported is an import of a session with one turn for each text, by rules.
func imported(t *testing.T, rules string, texts ...string) threeway.Side {
	t.Helper()
	var b strings.Builder
	for i, text := range texts {
		content := base64.StdEncoding.EncodeToString([]byte(text))
		fmt.Fprintf(&b, `,{"timestamp":"2026-01-01 00:0%d:00.0","type":"turn_start"}`, i)
		fmt.Fprintf(&b, `,{"timestamp":"2026-01-01 00:0%d:01.0","type":"chat_request","content":%q,`+
			`"metadata":{"git_jp_source":"a%[1]d"}}`, i, text)
		fmt.Fprintf(&b, `,{"timestamp":"2026-01-01 00:0%d:02.0","type":"tool_call_response","id":"t",`+
			`"content":%q,"is_error":false,"metadata":{"git_jp_source":"b%[1]d"}}`, i, content)
	}
	s, err := events.Decode([]byte("[" + b.String()[1:] + "]"))
	if err != nil {
		t.Fatal(err)
	}
	v := events.ImportVersion{Revision: 7, Length: int64(len(texts)), Hash: "a"}
	return threeway.Side{Stream: s, Source: threeway.Source{Session: "s", Version: v, Rules: rules}}
}

// TestRedactedByNewerRules checks that what newer rules redacted stays so if an import by older ones
// has more of the session, and that only markers make the difference.
func TestRedactedByNewerRules(t *testing.T) {
	const in, out = "the pin is 4711 and 0815", "the pin is [redacted:pin] and 0815"
	for name, tt := range map[string]struct{ base, short, long, rules, want string }{
		"newer rules": {in, out, in, "3", out},
		"the longer":  {in, in, out, "1", out},
		"other text":  {in, "the pin was [redacted:pin] and 0815", in, "3", in},
		"other end":   {in, "the pin is [redacted:pin] and 0816", in, "3", in},
		"more of it":  {in, out, "the pin is [redacted:pin] and [redacted:pin]", "3", "the pin is [redacted:pin] and [redacted:pin]"},
		"older rules": {in, out, in, "1", in},
	} {
		base := imported(t, "2", tt.base)
		short, long := imported(t, tt.rules, tt.short), imported(t, "2", tt.long, "more")
		want := imported(t, "2", tt.want, "more").Stream
		for _, sides := range [][2]threeway.Side{{short, long}, {long, short}} {
			r, err := threeway.Merge(base, sides[0], sides[1])
			if err != nil || len(r.Conflicts) > 0 {
				t.Errorf("%s: %v, %v", name, r.Conflicts, err)
				continue
			}
			for i, e := range want.All() {
				if i >= r.Stream.Len() || !events.Equal(e, r.Stream.At(i)) {
					t.Errorf("%s: merged to %s, want %s", name, r.Stream.Encode(), want.Encode())
					break
				}
			}
		}
	}
}
