package events

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func importedMetadata() Metadata { return Metadata{}.WithText(MetadataSource, "a1.0") }

func resultOf(md Metadata, texts ...string) *Element {
	r := &ToolCallResponse{ID: "c"}
	for _, text := range texts {
		r.Blocks = append(r.Blocks, Block{Type: BlockText, Content: blobs.Loaded([]byte(text))})
	}
	return NewElement(time.Unix(1, 0), r, md)
}

// kept is an in-memory store.
type kept map[blobs.Hash][]byte

func (k kept) Write(b []byte) (blobs.Ref, error) {
	ref := blobs.RefTo(b)
	k[ref.Hash] = b
	return ref, nil
}

func (k kept) Read(ref blobs.Ref) ([]byte, error) { return k[ref.Hash], nil }

// TestExternalize_import: short texts of an import stay in the stream, whatever writes it, and
// nothing else does.
func TestExternalize_import(t *testing.T) {
	long := strings.Repeat("x", maxInline+1)
	for name, tt := range map[string]struct {
		md    Metadata
		texts []string
		want  int // references
	}{
		"import":        {importedMetadata(), []string{"short", long, long[1:], "\xff"}, 2},
		"anything else": {Metadata{}, []string{"short", long, long[1:], "\xff"}, 4},
		"empty":         {importedMetadata(), []string{""}, 0},
	} {
		for _, legacy := range []bool{false, true} {
			s := New(resultOf(tt.md, tt.texts...))
			if _, err := s.Externalize(kept{}, ExternalizeOptions{Legacy: legacy}); err != nil {
				t.Fatal(err)
			}
			refs, err := References(s.Encode())
			if err != nil || len(refs) != tt.want {
				t.Errorf("%s: %d references (%v), want %d", name, len(refs), err, tt.want)
			}
			once := string(s.Encode())
			n, err := s.Externalize(kept{}, ExternalizeOptions{Legacy: legacy})
			if n != 0 || err != nil || string(s.Encode()) != once {
				t.Errorf("%s: again: %d moved (%v)", name, n, err)
			}
		}
	}
}

// TestExternalize_importOfOldForm: content of an import that is in blobs stays there.
func TestExternalize_importOfOldForm(t *testing.T) {
	text := []byte("short")
	r := &ToolCallResponse{ID: "c", Blocks: []Block{{
		Type: BlockText, Content: blobs.Refer(blobs.RefTo(text)),
	}}}
	s := New(NewElement(time.Unix(1, 0), r, importedMetadata()))
	was := string(s.Encode())
	n, err := s.Externalize(kept{}, ExternalizeOptions{Legacy: true})
	if n != 0 || err != nil || string(s.Encode()) != was {
		t.Errorf("%d moved (%v)", n, err)
	}
	if now := resultOf(importedMetadata(), "short"); !Equal(s.At(0), now) {
		t.Errorf("not equal:\n%s\n%s", s.At(0).Raw(), now.Raw())
	}
}

// TestInline_import: a form that jp can read is restored unchanged.
func TestInline_import(t *testing.T) {
	store := kept{}
	long := strings.Repeat("x", maxInline+1)
	s := New(resultOf(importedMetadata(), "short"), resultOf(importedMetadata(), "short", long))
	if _, err := s.Externalize(store, ExternalizeOptions{}); err != nil {
		t.Fatal(err)
	}
	was := string(s.Encode())
	if n, err := s.Inline(store); n != 2 || err != nil {
		t.Fatalf("%d moved (%v)", n, err)
	}
	for _, e := range s.All() {
		var r struct{ Content string }
		if err := json.Unmarshal(e.Raw(), &r); err != nil {
			t.Errorf("jp cannot read %s: %v", e.Raw(), err)
		}
	}
	if _, err := s.Externalize(store, ExternalizeOptions{Legacy: true}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(was, string(s.Encode())); diff != "" {
		t.Error(diff)
	}
}

// TestPlainStrings: strings of an import read back, also by jp's rule, and are plain text if that
// rule allows it.
func TestPlainStrings(t *testing.T) {
	hash := blobs.Sum(nil).String()
	for value, want := range map[string]string{
		`go test ./...`: `go test ./...`,
		`QUJD`:          `UVVKRA==`, // reads as base64
		``:              ``,         // reads as base64 of nothing
		hash:            encoded(hash),
		`a"b`:           `a"b`,
	} {
		arguments, _ := json.Marshal(map[string]any{"$blob": value, "size": 1, "in": []string{value}})
		e := NewElement(time.Unix(1, 0), &ToolCallRequest{
			ID: "c", Name: "bash", Arguments: arguments,
		}, Metadata{}.WithText("signature", value).WithText(MetadataSource, "a1.0"))
		s, err := Decode(New(e).Encode())
		if err != nil {
			t.Fatal(err)
		}
		back := s.At(0)
		if got := back.Event().(*ToolCallRequest).Arguments; !sameJSON(got, arguments) {
			t.Errorf("%q reads as %s", value, got)
		}
		if got, _ := back.Metadata().Text("signature"); got != value {
			t.Errorf("%q reads as %q in the metadata", value, got)
		}
		var raw struct {
			Arguments struct{ In []string }
			Metadata  struct{ Signature string }
		}
		if err := json.Unmarshal(back.Raw(), &raw); err != nil {
			t.Fatal(err)
		}
		if raw.Arguments.In[0] != want || raw.Metadata.Signature != want {
			t.Errorf("%q is written %q and %q", value, raw.Arguments.In[0], raw.Metadata.Signature)
		}
		if refs, err := References(s.Encode()); len(refs) > 0 || err != nil {
			t.Errorf("%q is a reference: %v %v", value, refs, err)
		}
		jp, err := Decode(s.Canonical())
		if err != nil || !Equal(jp.At(0), back) || !strings.Contains(string(s.Canonical()), encoded(value)) {
			t.Errorf("jp writes %s: %v", s.Canonical(), err)
		}
	}
}

func encoded(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// TestEqual_record: both forms of a record are equal.
func TestEqual_record(t *testing.T) {
	text := []byte("{\"n\":1}\n")
	record := func(data jsontext.Value) *Element {
		s, err := Decode([]byte(`[{"type":"git_jp_agent_record","timestamp":"2026-01-01 00:00:00.0",` +
			`"agent":"codex","id":"x","ordinal":0,"data":` + string(data) + `}]`))
		if err != nil {
			t.Fatal(err)
		}
		return s.At(0)
	}
	a := record(RecordData(blobs.Loaded(text)))
	b := record(RecordData(blobs.Refer(blobs.RefTo(text))))
	if !Equal(a, b) || a.Sum() != b.Sum() {
		t.Errorf("%s\n%s", a.Raw(), b.Raw())
	}
	for _, e := range []*Element{a, b} {
		if c, ok := RecordContent(e); !ok || c.Ref() != blobs.RefTo(text) {
			t.Errorf("%s has %v", e.Raw(), c.Ref())
		}
	}
	if Equal(a, record(RecordData(blobs.Loaded([]byte("{}\n"))))) {
		t.Error("records of other lines are equal")
	}
}

// TestIsEdited: the sum is the same in whatever form an event is written and wherever its content
// is. Later releases must know edits of what this one imports, so the digits are constant.
func TestIsEdited(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	for sum, ev := range map[string]Event{
		"33dbeaa": &ChatRequest{Content: "One \u2028 \u00e4"},
		"45ce753": &ChatResponse{Text: "Two"},
		"58e4606": &ToolCallRequest{ID: "c", Name: "n", Arguments: jsontext.Value(`{"b":[1, 2.50],"a":"x"}`)},
		"fd77eea": &ToolCallResponse{ID: "c", Blocks: []Block{{
			Type: BlockText, Content: blobs.Loaded([]byte("Three")),
		}}},
	} {
		md := importedMetadata()
		e := NewElement(at, ev, md.WithSum())
		if got, _ := e.Metadata().Text(metadataSum); got != sum || e.IsEdited() {
			t.Errorf("%s: the sum is %s, want %s; edited: %t", ev.Kind(), got, sum, e.IsEdited())
		}
		for name, form := range map[string]struct {
			from, to string
			edited   bool
		}{
			"another form": {`"timestamp"`, ` "event_id" : 7 ,"timestamp"`, false},
			"a member":     {`"timestamp"`, `"more":1,"timestamp"`, true},
			"another time": {`:05`, `:06`, true},
		} {
			raw := strings.Replace(string(e.Raw()), form.from, form.to, 1)
			s, err := Decode([]byte("[" + raw + "]"))
			if err != nil {
				t.Fatal(err)
			}
			if got := s.At(0).IsEdited(); got != form.edited {
				t.Errorf("%s, %s: edited %t, want %t", ev.Kind(), name, got, form.edited)
			}
		}
	}
	long := strings.Repeat("x", maxInline+1)
	stored := NewElement(time.Unix(1, 0), normalEvent(resultOf(Metadata{}, long).Event()),
		importedMetadata().WithSum())
	inline := stored.With(resultOf(Metadata{}, long).Event())
	other := stored.With(resultOf(Metadata{}, long+"x").Event())
	if stored.IsEdited() || inline.IsEdited() || !other.IsEdited() {
		t.Error("whether an event is edited depends on where its content is")
	}
}
