package sessionstest_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
)

// TestBesideIsKept appends records that say more than one thing to sessions: none of it hides
// another. In testdata/beside they are apart by empty lines. Each @ there is a text of its own,
// each ^ one in base64, as of an image, and § damages base64; each ~ is a text that is left out.
func TestBesideIsKept(t *testing.T) {
	samples(t, func(t *testing.T, a agent, path string) {
		if filepath.Base(path) != "everything.jsonl" {
			return
		}
		begin, besides := bytesOf(t, path), bytesOf(t, "testdata/beside/"+a.name+".txt")
		for record := range strings.SplitSeq(strings.TrimSpace(string(besides)), "\n\n") {
			text, said := filled(record)
			whole := write(t, t.TempDir(), "s.jsonl", append(slices.Clip(begin), text+"\n"...))
			all, kept, err := sessionstest.Try(a.dialect, whole, 0)
			if err != nil {
				t.Errorf("%s: %v", record, err)
			}
			for _, s := range said {
				if !has(all, kept, s) && !has(all, kept, encoded(s)) {
					t.Errorf("%s: %s is lost", record, s)
				}
			}
			if has(all, kept, leftOut) {
				t.Errorf("%s: %s is kept", record, leftOut)
			}
		}
	})
}

const leftOut = "not kept"

func bytesOf(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// filled returns a record with texts, and these.
func filled(record string) (text string, said []string) {
	var out strings.Builder
	for _, r := range record {
		next := "said " + string(rune('A'+len(said))) + " here"
		switch r {
		case '@':
			out.WriteString(next)
		case '^':
			out.WriteString(encoded(next))
		case '~':
			out.WriteString(leftOut)
			continue
		case '§':
			out.WriteString("!!")
			continue
		default:
			out.WriteRune(r)
			continue
		}
		said = append(said, next)
	}
	return out.String(), said
}

func encoded(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
