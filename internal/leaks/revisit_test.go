package leaks_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/secrets"
)

// A commit is a tree whose entries have the ids of their versions. It counts the streams read.
type commit struct {
	tree

	reads *int
}

func (c commit) ReadFile(name string) ([]byte, error) {
	if path.Base(name) == "events.json" {
		*c.reads++
	}
	return c.tree.ReadFile(name)
}

func (c commit) List(dir string) ([]check.Entry, error) {
	entries, err := c.tree.List(dir)
	for i, e := range entries {
		at, sum := path.Join(dir, e.Name), sha256.New()
		for _, name := range slices.Sorted(maps.Keys(c.MapFS)) {
			if name == at || strings.HasPrefix(name, at+"/") {
				fmt.Fprintf(sum, "%s %x ", name, c.MapFS[name].Data)
			}
		}
		entries[i].ID, _ = gitint.OIDOf(sum.Sum(nil))
	}
	return entries, err
}

// TestRevisit tests beside what in known trees an entry has to be for the text to be known, and that
// no stream is read if all entries are known.
func TestRevisit(t *testing.T) {
	const text = "the word is sesame"
	stream := said("stream", "ok", text)
	s, err := events.Decode(stream.MapFS[dir+"events.json"].Data)
	if err != nil {
		t.Fatal(err)
	}
	match := secrets.Match{Rule: "text", Start: 12, End: 18}
	r := secrets.Redaction{
		Conversation: id.Digits(), Event: s.Keys()[1], Member: "/content",
		Ranges: []secrets.Range{secrets.NewRange([]byte(text), match)},
	}
	reads := 0
	both := commit{stream.with(".jp/"+r.Name(), string(r.Encode())), &reads}
	other := said("entry", "ok", "redacted")
	entry := commit{other.with(".jp/"+r.Name(), string(r.Encode())), &reads}
	alone := commit{stream, &reads}
	is := func(answer bool) func(events.ID) bool {
		return func(events.ID) bool { return answer }
	}
	for name, tt := range map[string]struct {
		known  []commit
		change func(events.ID) bool
		want   int
	}{
		"no tree":                       {nil, nil, 1},
		"the text":                      {[]commit{alone}, nil, 1},
		"the entry":                     {[]commit{entry}, nil, 1},
		"each in another tree":          {[]commit{alone, entry}, nil, 1},
		"both":                          {[]commit{alone, both}, nil, 0},
		"the entry, changed":            {[]commit{entry}, is(true), 1},
		"the entry, and not changed":    {[]commit{entry}, is(false), 0},
		"the text, and it is unchanged": {[]commit{alone}, is(false), 1},
	} {
		s := leaks.NewScanner(leaks.Options{Dirs: []string{".jp"}, Select: tt.change})
		for _, known := range tt.known {
			s.Know(known)
		}
		reads = 0
		if err := s.Revisit(t.Context(), both); err != nil {
			t.Fatal(err)
		}
		if tt.want == 0 && reads > 0 {
			t.Errorf("%s is known: read %d streams", name, reads)
		}
		report := &check.Report{}
		if s.Report(report); len(report.Findings) != tt.want {
			t.Errorf("%s is known: found %v, want %d", name, report.Findings, tt.want)
		}
	}
}
