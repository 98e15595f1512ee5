package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/realdata"
)

// semanticVectors is the part of the recorded vectors about the semantics of streams.
type semanticVectors struct {
	Sanitize, Project, Fork []struct {
		Name    string
		Events  []json.RawMessage
		Out     []json.RawMessage
		Origins string `json:"turn_origins"`
		Op      []string
	}
	Range []struct {
		Events   []json.RawMessage
		From, To string
		Resolved []int
		Extended []int `json:"extended_for_summary"`
	}
	Slug []struct{ Title, Dirname string }
}

func readVectors(t *testing.T) semanticVectors {
	t.Helper()
	data, err := os.ReadFile(realdata.Dir(t, "vectors", "jp-format.json"))
	if err != nil {
		t.Fatal(err)
	}
	var v semanticVectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Sanitize) < 9 || len(v.Project) < 11 || len(v.Fork) < 6 || len(v.Range) < 7 ||
		len(v.Slug) < 17 {
		t.Fatal("vectors are missing")
	}
	return v
}

func TestSanitizeVectors(t *testing.T) {
	for _, v := range readVectors(t).Sanitize {
		t.Run(v.Name, func(t *testing.T) {
			sameText(t, mustStream(t, v.Events).Sanitize(), v.Out)
		})
	}
}

func TestProjectVectors(t *testing.T) {
	for _, v := range readVectors(t).Project {
		t.Run(v.Name, func(t *testing.T) {
			p := mustStream(t, v.Events).Project()
			sameText(t, p.Stream, v.Out)
			if got := originsText(p.Origins); got != v.Origins {
				t.Errorf("origins are %s, want %s", got, v.Origins)
			}
		})
	}
}

// originsText formats origins as the reference implementation does.
func originsText(origins []Origin) string {
	var texts []string
	for _, o := range origins {
		if o.Summary {
			texts = append(texts, fmt.Sprintf("Summary { from: %d, to: %d }", o.From, o.To))
		} else {
			texts = append(texts, fmt.Sprintf("Kept(%d)", o.From))
		}
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// jp loses compactions and unknown elements in a fork; this package keeps them. There is no other
// difference.
func TestForkVectors(t *testing.T) {
	for _, v := range readVectors(t).Fork {
		t.Run(v.Name, func(t *testing.T) {
			fork := mustStream(t, v.Events).Fork(forkOptions(t, v.Op))
			var ours []*Element
			for _, e := range fork.All() {
				if e.Kind().IsEvent() || e.Kind() == KindConfigDelta {
					ours = append(ours, e)
				}
			}
			sameText(t, New(ours...), v.Out)
		})
	}
}

func forkOptions(t *testing.T, op []string) ForkOptions {
	t.Helper()
	if len(op) == 0 {
		return ForkOptions{}
	}
	switch op[0] {
	case "first":
		return ForkOptions{First: atoi(t, op[1])}
	case "firstlast":
		return ForkOptions{First: atoi(t, op[1]), Last: atoi(t, op[2])}
	case "from":
		at, err := time.Parse(time.RFC3339, op[1])
		if err != nil {
			t.Fatal(err)
		}
		return ForkOptions{From: at}
	}
	t.Fatalf("unknown operation %q", op)
	return ForkOptions{}
}

func TestRangeVectors(t *testing.T) {
	for _, v := range readVectors(t).Range {
		t.Run(v.From+" to "+v.To, func(t *testing.T) {
			s := mustStream(t, v.Events)
			r, ok := s.ResolveRange(vectorBound(t, v.From), vectorBound(t, v.To))
			if ok != (v.Resolved != nil) || ok && r != (Range{v.Resolved[0], v.Resolved[1]}) {
				t.Fatalf("resolved to %v, %t, want %v", r, ok, v.Resolved)
			}
			if !ok {
				return
			}
			if got := s.ExtendForSummary(r); got != (Range{v.Extended[0], v.Extended[1]}) {
				t.Errorf("extended to %v, want %v", got, v.Extended)
			}
		})
	}
}

// vectorBound reads the recorder's notation: "_" is open, "L" after the last compaction, n a turn
// counted from 0, -n as many turns before the last.
func vectorBound(t *testing.T, s string) Bound {
	t.Helper()
	switch {
	case s == "_":
		return Bound{}
	case s == "L":
		return afterLastCompaction()
	case s[0] == '-':
		return FromEnd(atoi(t, s[1:]))
	}
	return AtTurn(atoi(t, s))
}

func TestSlugVectors(t *testing.T) {
	for _, v := range readVectors(t).Slug {
		if got := Dirname(17457886043, v.Title); got != v.Dirname {
			t.Errorf("Dirname(%q) = %q, want %q", v.Title, got, v.Dirname)
		}
	}
}

// On real conversations jp's sanitizer adds a first turn_start to those older than it, drops one
// orphaned inquiry, and changes nothing else.
func TestSanitizeReal(t *testing.T) {
	for name, s := range realStreams(t) {
		turns, open := s.Turns(), 0
		for _, q := range s.Inquiries() {
			if q.Open() {
				open++
			}
		}
		clean := s.Sanitize()
		want := s.Len() - open
		if len(turns) > 0 && turns[0].Implicit {
			want++
		}
		if clean.Len() != want {
			t.Errorf("%s: %d elements became %d, want %d", name, s.Len(), clean.Len(), want)
		}
		if want == s.Len() && open == 0 && !bytes.Equal(clean.Encode(), s.Encode()) {
			t.Errorf("%s: sound, but bytes changed", name)
		}
		if !bytes.Equal(clean.Sanitize().Encode(), clean.Encode()) {
			t.Errorf("%s: sanitizing twice makes a difference", name)
		}
		if !bytes.Equal(s.Fork(ForkOptions{}).Encode(), clean.Encode()) {
			t.Errorf("%s: a fork is not the sanitized stream", name)
		}
	}
}

// All 872 real calls are answered, in 17671120783 under ids that repeat.
func TestCallsReal(t *testing.T) {
	calls := 0
	for name, s := range realStreams(t) {
		for _, c := range s.Calls() {
			calls++
			if c.Open() {
				t.Errorf("%s: call %s in turn %d is open", name, c.ID, c.Turn)
			}
		}
		if in, ok := s.Incomplete(); ok {
			t.Logf("%s: incomplete: %+v", name, in)
		}
	}
	if calls < 100 {
		t.Errorf("only %d calls were found", calls)
	}
}

func TestDirnameReal(t *testing.T) {
	for name := range realStreams(t) {
		data, err := os.ReadFile(realdata.Dir(t, "conversations", name, "metadata.json"))
		if err != nil {
			t.Fatal(err)
		}
		var details struct{ Title string }
		if err := json.Unmarshal(data, &details); err != nil {
			t.Fatal(err)
		}
		id, ok := ParseDirname(filepath.Base(name))
		if got := Dirname(id, details.Title); !ok || got != filepath.Base(name) {
			t.Errorf("Dirname(%q) = %q, want %q", details.Title, got, filepath.Base(name))
		}
	}
}

// realStreams returns the real streams by directory below conversations.
func realStreams(t *testing.T) map[string]*Stream {
	t.Helper()
	root := realdata.Dir(t, "conversations")
	streams := map[string]*Stream{}
	for _, pattern := range []string{"*", ".archive/*"} {
		dirs, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			data, err := os.ReadFile(filepath.Join(dir, "events.json"))
			if err != nil {
				continue // .archive itself
			}
			s, err := Decode(data)
			if err != nil {
				t.Fatalf("%s: %v", dir, err)
			}
			name, err := filepath.Rel(root, dir)
			if err != nil {
				t.Fatal(err)
			}
			streams[name] = s
		}
	}
	if len(streams) < 11 {
		t.Fatalf("only %d real streams", len(streams))
	}
	return streams
}

func atoi(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// mustStream decodes elements.
func mustStream(t testing.TB, elems []json.RawMessage) *Stream {
	t.Helper()
	s, err := Decode(fileText(t, elems))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sameText compares a stream, as jp would write it, with elements.
func sameText(t *testing.T, s *Stream, want []json.RawMessage) {
	t.Helper()
	if got, want := s.Canonical(), fileText(t, want); !bytes.Equal(got, want) {
		t.Errorf("stream is\n%swant\n%s", got, want)
	}
}

// fileText returns elements as the text of a canonical file.
func fileText(t testing.TB, elems []json.RawMessage) []byte {
	t.Helper()
	if elems == nil {
		elems = []json.RawMessage{}
	}
	joined := []byte{'['}
	for i, e := range elems {
		if i > 0 {
			joined = append(joined, ',')
		}
		joined = append(joined, e...)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, append(joined, ']'), "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}
