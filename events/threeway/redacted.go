package threeway

import (
	"encoding/base64"
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// marker matches what an import puts in the place of a secret.
var marker = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[redacted:[a-z0-9-]+\]`)
})

// isRedacted reports whether an element is another one with markers in the place of parts of its
// texts. Of content that is in a blob nothing is known.
func isRedacted(e, of *events.Element) bool {
	a, b := decoderOf(e), decoderOf(of)
	found := false
	for {
		s, errA := a.ReadToken()
		t, errB := b.ReadToken()
		if errA != nil || errB != nil {
			return found && errors.Is(errA, errB) // both are at the end
		}
		switch is, was := s.String(), t.String(); {
		case s.Kind() != t.Kind():
			return false
		case is == was:
		case s.Kind() == '"' && (hides(is, was) || hides(plain(is), plain(was))):
			found = true
		default:
			return false
		}
	}
}

func decoderOf(e *events.Element) *jsontext.Decoder {
	return jsontext.NewDecoder(strings.NewReader(string(e.Raw())))
}

// plain returns the content of base64, or "".
func plain(s string) string {
	text, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return ""
	}
	return string(text)
}

// hides reports whether a text is another one with markers in the place of parts of it.
func hides(text, was string) bool {
	parts := marker().Split(text, -1)
	if len(parts) == 1 {
		return false
	}
	last := parts[len(parts)-1]
	rest, ok := strings.CutPrefix(was, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if !ok || at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return ok && strings.HasSuffix(rest, last)
}
