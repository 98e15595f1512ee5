package query_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool/file"
	"pgregory.net/rapid"
)

// TestGivenIsWhatIsSent compares the printed view with the request: both have the same results,
// attachments, references and stubs, and turns keep their numbers.
func TestGivenIsWhatIsSent(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		stored := conversation().Draw(t, "conversation")
		if rapid.Bool().Draw(t, "again") {
			more, err := events.Decode(stored.Encode())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range more.All() {
				stored.Append(e)
			}
		}
		if rapid.Bool().Draw(t, "strip") {
			out, err := compact.Run(t.Context(), stored, compact.Options{
				Strategies: []string{compact.StripAttachments}, Contents: noBlobs{},
			})
			if err != nil {
				t.Fatal(err)
			}
			stored = out.Stream
		}
		for i, e := range stored.Clone().All() {
			if e.Kind() == events.KindToolCallResponse && rapid.IntRange(0, 3).Draw(t, "trim") == 0 {
				stored.Set(i, dedup.WithTrimmed(e, nil))
			}
		}
		src := source(t, stored)
		spell := func(uri string) string { return file.Expand(src.Root, uri) }
		o := options()
		o.MinBytes = 1
		o.URI = spell
		var err error
		if src.Plan, err = dedup.New(src.View, o, noBlobs{}); err != nil {
			t.Fatal(err)
		}
		r, err := query.Build(src)
		if err != nil {
			t.Fatal(err)
		}
		p, err := query.Given(stored, o, noBlobs{})
		if err != nil {
			t.Fatal(err)
		}
		sent, printed := textsOf(r), printedTexts(t, p.Stream)
		if !slices.Equal(sent, printed) {
			t.Fatalf("sent is\n%q\nprinted is\n%q\n%s", sent, printed, stored.Encode())
		}
		if len(p.Origins) != len(p.Stream.Turns()) {
			t.Fatalf("%d turns come from %d", len(p.Stream.Turns()), len(p.Origins))
		}
		for i, from := range p.Origins {
			if i > 0 && from.From <= p.Origins[i-1].To {
				t.Fatalf("turns are numbered %v", p.Origins)
			}
		}
		for _, text := range sent {
			for _, mark := range []string{"is identical to", "[superseded]", "taken out since"} {
				if strings.Contains(text, mark) {
					seen[mark]++
				}
			}
		}
	})
	t.Log(seen)
	for _, mark := range []string{"is identical to", "[superseded]", "taken out since"} {
		if seen[mark] == 0 {
			t.Errorf("nothing was said with %q: nothing was shown", mark)
		}
	}
}

// textsOf returns the texts of results and attachments of a request, without questions and without
// texts that replace no resource.
func textsOf(r *llm.Request) (all []string) {
	for _, m := range r.Messages {
		if m.Role != llm.RoleUser {
			continue
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Result:
				for _, q := range p.Parts {
					all = appendText(all, q)
				}
			case llm.Resource:
				all = appendText(all, p)
			case llm.Text:
				if strings.HasPrefix(p.Text, "The content of ") || strings.HasPrefix(p.Text, "[attachment ") ||
					strings.HasPrefix(p.Text, "[resource ") {
					all = appendText(all, p)
				}
			}
		}
	}
	return all
}

func appendText(all []string, p llm.Part) []string {
	switch p := p.(type) {
	case llm.Text:
		if strings.HasPrefix(p.Text, "[resource ") {
			return all // an empty one
		}
		return append(all, p.Text)
	case llm.Resource:
		if p.Text != "" {
			return append(all, p.Text)
		}
	}
	return all
}

// printedTexts returns the texts of results and attachments of a stream.
func printedTexts(t *rapid.T, s *events.Stream) (all []string) {
	add := func(r *events.Resource) {
		content := r.Content
		if r.Formatted != nil {
			content = *r.Formatted
		}
		text, err := content.Bytes(noBlobs{})
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 0 && file.IsText(text) {
			all = append(all, string(text))
		}
	}
	for _, e := range s.All() {
		switch ev := e.Event().(type) {
		case *events.ChatRequest:
			for i := range ev.Resources {
				add(&ev.Resources[i])
			}
		case *events.ToolCallResponse:
			for _, b := range ev.Blocks {
				switch {
				case b.Resource != nil:
					add(b.Resource)
				case b.Type == events.BlockText:
					add(&events.Resource{Content: b.Content})
				}
			}
		}
	}
	return all
}
