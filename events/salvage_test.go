package events_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
)

// TestSalvage truncates a stream after each of its bytes: every complete element is kept, byte for
// byte, and nothing else.
func TestSalvage(t *testing.T) {
	in := []byte("[\n  " + strings.Join([]string{
		`{"type":"turn_start",` + head + `}`,
		`{"type":"chat_request",` + head + `,"content":"é \u00e9 ]"}`,
		`{"type":"future","x":[1e3,{"a":"b"}]}`,
		`{"type":"turn_start",` + head + `}`,
	}, ",\n  ") + "\n]\n")
	all := decode(t, string(in))
	ends := make([]int, all.Len())
	at := 0
	for i, e := range all.All() {
		raw := events.New(e).Encode()
		raw = bytes.TrimSpace(bytes.Trim(bytes.TrimSpace(raw), "[]"))
		at += bytes.Index(in[at:], raw) + len(raw)
		ends[i] = at
	}
	for n := range len(in) - len("]\n") {
		want := 0
		for want < len(ends) && ends[want] <= n {
			want++
		}
		for _, tail := range []string{"", "\x00\x00"} {
			data, ok := events.Salvage(append(bytes.Clone(in[:n]), tail...))
			if ok != (want > 0) {
				t.Fatalf("cut at %d: %v, and %d elements are whole", n, ok, want)
			}
			if !ok {
				continue
			}
			s := decode(t, string(data))
			if s.Len() != want || !bytes.HasPrefix(data, in[:ends[want-1]]) {
				t.Fatalf("cut at %d: %d elements of %d in\n%s", n, s.Len(), want, data)
			}
		}
	}
}

// TestNothingToSalvage checks that a file which was not truncated is left to a person.
func TestNothingToSalvage(t *testing.T) {
	whole := `{"type":"turn_start",` + head + `}`
	for _, in := range []string{
		"", "[", "[]", "[" + whole + "]", "[" + whole + "] x", "{", `{"a":` + whole,
		"[" + whole + ",turn", "[" + whole + "\n<<<<<<< ours\n", "[" + whole + ",]",
		`[{"type":"turn_start","type":"x"},` + whole + ",",
		`[{"type":"turn_start","timestamp":"never"},` + whole + ",",
	} {
		if data, ok := events.Salvage([]byte(in)); ok {
			t.Errorf("%q gives\n%s", in, data)
		}
	}
}
