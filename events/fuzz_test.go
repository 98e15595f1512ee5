package events_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/events"
)

// seeds are small streams of all kinds and forms.
func seeds() []string {
	ref := `{"$blob":"` + hash + `","size":6}`
	return []string{
		"", "[]", handFormatted,
		Text(`"content":` + ref), Text(`"text":"a"`), Text(`"content":{"blob":"AA=="}`),
		Text(`"content":{"\u0024blob":"` + hash + `","size":1}`),
		result(`"aGVsbG8K"`),
		result(`[{"type":"image","data":"AA=="},{"type":"question","question":{"text":"q"}}]`),
		result(`[{"type":"resource","resource":{"uri":"u","text":""},"formatted":` + ref + `}]`),
		request1(`"resources":[{"uri":"u","content":` + ref + `}]`),
		`[{"type":"tool_call_response",` + head + `,"id":"a","is_error":false,"content":"YQ==",` +
			`"metadata":{"git_jp_blocks":[{"type":"dGV4dA==","text":"YQ=="}],` +
			`"git_jp_stripped":[{"uri":"dQ=="}]}}]`,
		request1(`"metadata":{"git_jp_resources":[{"uri":"dQ==","text":"YQ=="}]}`),
		`[{"type":"config_delta","a":{"b":1}},{"type":"compaction",` + head +
			`,"from_turn":0,"to_turn":1,` +
			`"summary":{"summary":"s"},"reasoning":"strip",` +
			`"tool_calls":{"policy":"strip","request":true,"response":false}}]`,
		`[{"type":"inquiry_request",` + head +
			`,"id":"a","source":{"source":"user"},"question":{"text":"q",` +
			`"answer_type":{"type":"select","options":[{"value":1}]},"default":null}}]`,
		`[{"type":"new","x":{"$blob":"` + hash + `"}},5,{"type":"tool_call_request",` + head +
			`,"id":"a","name":"n"}]`,
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := slices.Clone(data)
		s, err := events.Decode(data)
		if err != nil {
			var syntax *events.SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > int64(len(data)) {
				t.Fatalf("error is %#v", err)
			}
			return
		}
		if string(s.Encode()) != string(in) {
			t.Fatalf("%q became %q", in, s.Encode())
		}
		exercise(t, s)
		if string(data) != string(in) {
			t.Fatal("the input was changed")
		}
	})
}

// exercise calls everything that must work on every stream.
func exercise(t *testing.T, s *events.Stream) {
	s.Canonical()
	store := memory{}
	out := s.Clone()
	if _, err := out.Externalize(store, events.ExternalizeOptions{Legacy: true}); err != nil {
		t.Fatal(err)
	}
	if err := events.Valid(out, events.DecodeOptions{}); err != nil {
		t.Fatalf("after externalizing %q: %v", out.Encode(), err)
	}
	for i, e := range s.All() {
		if !events.Equal(e, out.At(i)) {
			t.Fatalf("element %d: %s became %s", i, e.Raw(), out.At(i).Raw())
		}
		if same := e.With(e.Event()).WithMetadata(e.Metadata()).WithTime(e.Time()); same != e {
			t.Fatalf("element %d: %s became %s", i, e.Raw(), same.Raw())
		}
		moved := e.WithTime(noon).WithMetadata(e.Metadata().WithText("k", "v"))
		if moved.Kind() != e.Kind() {
			t.Fatalf("kind of %s became that of %s", e.Raw(), moved.Raw())
		}
		e.Metadata().Stripped()
	}
	if _, err := out.Inline(store); err != nil {
		return // a missing blob or a reference of a newer version
	}
	if err := events.Valid(out, events.DecodeOptions{}); err != nil {
		t.Fatalf("after inlining %q: %v", out.Encode(), err)
	}
	for i, e := range s.All() {
		if !events.Equal(e, out.At(i)) {
			t.Fatalf("element %d: %s was inlined as %s", i, e.Raw(), out.At(i).Raw())
		}
	}
}

func FuzzReferences(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		refs, err := events.References(data)
		o := events.ReferencesOptions{Duplicates: true}
		lenient, lenientErr := events.ReferencesWith(data, o)
		if err == nil && (lenientErr != nil || !slices.Equal(refs, lenient)) {
			t.Fatalf("allowing duplicates changes %+v to %+v, %v", refs, lenient, lenientErr)
		}
		o.Bare = true
		bare, bareErr := events.ReferencesWith(data, o)
		same := slices.EqualFunc(bare, lenient, func(a, b events.RefAt) bool {
			b.Turn, b.Call, b.Tool = 0, "", ""
			return a == b
		})
		if !same || fmt.Sprint(bareErr) != fmt.Sprint(lenientErr) {
			t.Fatalf("bare: %+v, %v; otherwise %+v, %v", bare, bareErr, lenient, lenientErr)
		}
		s, decodeErr := events.Decode(data)
		if decodeErr != nil {
			return
		}
		if err != nil {
			t.Fatalf("a stream that decodes has no references: %v", err)
		}
		if decoded := s.References(); !slices.Equal(refs, decoded) {
			t.Fatalf("%+v, of the decoded stream %+v", refs, decoded)
		}
		refs = slices.DeleteFunc(refs, func(r events.RefAt) bool { return r.Loose })
		for c := range s.Contents() {
			if !c.Content.IsRef() {
				continue
			}
			if len(refs) == 0 || refs[0].Ref != c.Content.Ref() ||
				refs[0].Tool != c.Tool || refs[0].Turn != c.Turn {
				t.Fatalf("content %+v is not next in %+v", c, refs)
			}
			refs = refs[1:]
		}
		if len(refs) > 0 {
			t.Fatalf("no contents for %+v", refs)
		}
	})
}

func FuzzDetails(f *testing.F) {
	f.Add([]byte(details))
	f.Add([]byte(`{"last_activated_at":"2026-01-01 00:00:00","labels":{"a":""},"pinned_at":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := events.DecodeDetails(data)
		if err != nil {
			return
		}
		if string(d.Encode()) != string(data) {
			t.Fatalf("%q became %q", data, d.Encode())
		}
		d.PinnedAt, d.Title, d.Labels = &noon, nil, map[string]string{"k": "v"}
		again, err := events.DecodeDetails(d.Encode())
		if err != nil {
			t.Fatalf("%q does not read back: %v", d.Encode(), err)
		}
		if again.Title != nil || !again.PinnedAt.Equal(noon) || again.Labels["k"] != "v" {
			t.Fatalf("%q became %q", data, d.Encode())
		}
		if _, err := events.DecodeDetails(d.Canonical()); err != nil {
			t.Fatal(err)
		}
	})
}
