package events_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

const details = "\n{ \"local\":false,\r\n\t\"last_activated_at\":\"2025-05-02T16:41:26Z\" , " +
	"\"title\":\"a\\/b\",\"labels\":{\"z\":\"\"},\"n\":1.50}\r\n"

func TestDetailsEdits(t *testing.T) {
	title := "new"
	tests := []struct {
		name string
		edit func(d *events.Details)
		want *strings.Replacer
	}{
		{"nothing", func(*events.Details) {}, strings.NewReplacer()},
		{
			"title",
			func(d *events.Details) { d.Title = &title },
			strings.NewReplacer(`"a\/b"`, `"new"`),
		},
		{
			"no title",
			func(d *events.Details) { d.Title = nil },
			strings.NewReplacer(` "title":"a\/b",`, "", " ,", " ,"),
		},
		{
			"time",
			func(d *events.Details) { d.LastActivatedAt = noon },
			strings.NewReplacer("2025-05-02T16:41:26Z", "2026-05-29 12:00:00.0"),
		},
		{"pinned", func(d *events.Details) { d.PinnedAt = &noon }, strings.NewReplacer(
			`"a\/b",`, `"a\/b", "pinned_at": "2026-05-29 12:00:00.0",`)},
		{
			"labels",
			func(d *events.Details) { d.Labels = nil },
			strings.NewReplacer(`,"labels":{"z":""}`, ""),
		},
		{
			"labels of a copy",
			func(d *events.Details) { d.Clone().Labels["a"] = "" },
			strings.NewReplacer(),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := events.DecodeDetails([]byte(details))
			if err != nil {
				t.Fatal(err)
			}
			tt.edit(d)
			got, want := string(d.Encode()), tt.want.Replace(details)
			if got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			again, err := events.DecodeDetails([]byte(got))
			if err != nil || string(again.Encode()) != got {
				t.Errorf("does not read back: %v", err)
			}
		})
	}
}

func TestDetailsValues(t *testing.T) {
	d, err := events.DecodeDetails([]byte(details))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(d.Keys()); got != "[local n]" {
		t.Error(got)
	}
	if v, ok := d.Value("n"); string(v) != "1.50" || !ok {
		t.Error(v)
	}
	if _, ok := d.Value("title"); ok {
		t.Error("a field is a value")
	}
	from := jsontext.Value(`{"id":"jp-c1","turn":2}`)
	if err := d.SetValue("git_jp_forked_from", from); err != nil {
		t.Fatal(err)
	}
	if err := d.SetValue("local", nil); err != nil {
		t.Fatal(err)
	}
	if d.SetValue("title", jsontext.Value("1")) == nil {
		t.Error("a field was set as a value")
	}
	if d.SetValue("x", jsontext.Value("{")) == nil {
		t.Error("what is not JSON was set")
	}
	title := "t"
	d.Title = &title
	got := string(d.Encode())
	if !strings.Contains(got, `"id": "jp-c1"`) || !strings.Contains(got, `:"t"`) ||
		strings.Contains(got, "local") {
		t.Error(got)
	}
}

func TestNewDetails(t *testing.T) {
	d := &events.Details{LastActivatedAt: noon, Labels: map[string]string{"b": "", "a": "1"}}
	if err := d.SetValue("git_jp_forked_from", jsontext.Value(`{"turn":2}`)); err != nil {
		t.Fatal(err)
	}
	title := "T"
	d.Title = &title
	const want = `{
  "title": "T",
  "last_activated_at": "2026-05-29 12:00:00.0",
  "labels": {
    "a": "1",
    "b": ""
  },
  "git_jp_forked_from": {
    "turn": 2
  }
}
`
	if got := string(d.Encode()); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestDetailsErrors(t *testing.T) {
	const active = `{"last_activated_at":"2026-01-01 00:00:00"`
	for in, want := range map[string]string{
		``:   "offset 0: the file is empty",
		`[]`: "offset 0: not a JSON object",
		"version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("a", 64) +
			"\nsize 1\n": "offset 0: " + blobs.ErrPointer.Error(),
		`{"last_activated_at":1}`:            "offset 21: last_activated_at: not a string",
		`{"title":1,"last_activated_at":""}`: "offset 9: title: not a string",
		`{"last_activated_at":"x"}`:          `offset 21: last_activated_at: x is not a timestamp`,
		active + `,"labels":null}`:           "offset 52: labels: not an object",
		active + `,"labels":{"a":1}}`:        "offset 57: labels: a: not a string",
		active + `,"pinned_at":false}`:       "offset 55: pinned_at: not a string",
		active + `,"0":{"a":1,"a":2}}`:       `offset 54: duplicate object member name`,
		active + `} {}`:                      "offset 44: unexpected data after the JSON value",
		`{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) +
			`,"b":1}`: "offset 0: containers nest too deep",
	} {
		if _, err := events.DecodeDetails([]byte(in)); err == nil || err.Error() != want {
			t.Errorf("%.40s: got %v, want %s", in, err, want)
		}
	}
}

func TestDetailsCloneSharesNothing(t *testing.T) {
	in := `{"title":"t","last_activated_at":"2026-01-01 00:00:00.0",` +
		`"pinned_at":"2026-01-01 00:00:00.0","archived_at":"2026-01-01 00:00:00.0",` +
		`"expires_at":"2026-01-01 00:00:00.0","labels":{"a":""}}`
	d, err := events.DecodeDetails([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	c := d.Clone()
	*c.Title, *c.PinnedAt, *c.ArchivedAt, *c.ExpiresAt = "new", noon, noon, noon
	c.Labels["a"] = "new"
	if got := string(d.Encode()); got != in {
		t.Errorf("a change of the clone changed the original to %s", got)
	}
	if got := string(c.Encode()); got == in {
		t.Error("the clone was not changed")
	}
	if c := (&events.Details{}).Clone(); c.Title != nil || c.PinnedAt != nil {
		t.Error("the clone has what the original has not")
	}
}

// A title comes from a command line and may hold any bytes. The file must be readable all the same.
func TestDetailsAreUTF8(t *testing.T) {
	d := &events.Details{
		Title: new("a\xff"), LastActivatedAt: noon, Labels: map[string]string{"\xff": "\xfe"},
	}
	again, err := events.DecodeDetails(d.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if *again.Title != "a\ufffd" || again.Labels["\ufffd"] != "\ufffd" {
		t.Errorf("got %+v", again)
	}
	if d.SetValue("\xff", jsontext.Value("1")) == nil {
		t.Error("a name that is not UTF-8 was set")
	}
}

// TestManyLabels reads more labels than any real conversation has. Finding each among all was
// quadratic.
func TestManyLabels(t *testing.T) {
	const n = 50_000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"l%d":"v%d"`, i, i)
	}
	d, err := events.DecodeDetails([]byte(`{"last_activated_at":"2026-01-01 01:00:00.0","labels":{` +
		b.String()[1:] + "}}"))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Labels) != n || d.Labels["l49999"] != "v49999" {
		t.Errorf("%d labels, the last is %q", len(d.Labels), d.Labels["l49999"])
	}
}

// TestDetailsAreSorted: the order in which unknown members are set leaves no trace.
func TestDetailsAreSorted(t *testing.T) {
	names := []string{"git_jp_title", "git_jp_created_at", "other", "git_jp_imported"}
	want := ""
	for range names {
		names = append(names[1:], names[0])
		d := &events.Details{Labels: map[string]string{"a": "b"}}
		for _, name := range names {
			if err := d.SetValue(name, []byte("1")); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.SetValue("other", nil); err != nil {
			t.Fatal(err)
		}
		got := string(d.Encode())
		if want == "" {
			want = got
		}
		if got != want || !slices.IsSorted(d.Keys()) {
			t.Errorf("%q give\n%s", names, got)
		}
	}
}
