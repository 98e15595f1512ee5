package events_test

import (
	"fmt"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"pgregory.net/rapid"
)

func TestMergeMetadata(t *testing.T) {
	file := func(title, at, more string) []byte {
		return fmt.Appendf(nil, "{\n  \"title\": %q,\n  \"last_activated_at\": \"2026-01-0%s 00:00:00.0\"%s\n}\n",
			title, at, more)
	}
	for _, tt := range []struct {
		name                       string
		base, ours, theirs, merged []byte
	}{
		{
			"the later time", file("a", "1", ""), file("a", "3", ""), file("a", "2", ""),
			file("a", "3", ""),
		},
		{
			"one new title", file("a", "1", ""), file("b", "2", ""), file("a", "3", ""),
			file("b", "3", ""),
		},
		{
			"two new titles", file("a", "1", ""), file("b", "2", ""), file("c", "3", ""),
			file("c", "3", ""),
		},
		{
			"two titles at one time", file("a", "1", ""), file("b", "3", ""), file("c", "3", ""),
			file("c", "3", ""),
		},
		{
			"archived here", file("a", "1", ""),
			file("a", "1", ",\n  \"archived_at\": \"2026-01-05 00:00:00.0\""), file("a", "3", ""),
			file("a", "3", ",\n  \"archived_at\": \"2026-01-05 00:00:00.0\""),
		},
		{
			"labels one by one", file("a", "1", ",\n  \"labels\": {\n    \"x\": \"1\"\n  }"),
			file("a", "2", ""),
			file("a", "3", ",\n  \"labels\": {\n    \"x\": \"1\",\n    \"y\": \"2\"\n  }"),
			file("a", "3", ",\n  \"labels\": {\n    \"y\": \"2\"\n  }"),
		},
		{
			"unknown members", file("a", "1", ""), file("a", "2", ",\n  \"z\": 1"),
			file("a", "3", ",\n  \"y\": [2]"), file("a", "3", ",\n  \"y\": [\n    2\n  ],\n  \"z\": 1"),
		},
		{"nothing in common", nil, file("a", "2", ""), file("b", "3", ""), file("b", "3", "")},
		{"one alone", nil, nil, file("b", "3", ""), file("b", "3", "")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				got, err := threeway.Metadata(tt.base, tt.ours, tt.theirs)
				if err != nil || string(got) != string(tt.merged) {
					t.Errorf("%v:\n%s\nis not\n%s", err, got, tt.merged)
				}
				tt.ours, tt.theirs = tt.theirs, tt.ours
			}
		})
	}
	if _, err := threeway.Metadata(nil, []byte("{}"), file("a", "1", "")); err == nil {
		t.Error("half a metadata.json is merged")
	}
}

func TestMergeBaseConfig(t *testing.T) {
	for _, tt := range []struct {
		base, ours, theirs, want string
		warned                   int
	}{
		{`{"a":1}`, `{"a":1}`, `{"a": 2}`, `{"a": 2}`, 0},
		{`{"a":1}`, `{"a":1,"c":3}`, `{"a":1,"b":2}`, "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}\n", 0},
		{
			`{"a":{"x":1,"y":1}}`, `{"a":{"x":2,"y":1}}`, `{"a":{"x":1}}`,
			"{\n  \"a\": {\n    \"x\": 2\n  }\n}\n", 0,
		},
		{`{"a":1}`, `{"a":3}`, `{"a":2}`, "{\n  \"a\": 2\n}\n", 1},
		{``, `{"a":3}`, `{"b":2}`, "{\n  \"a\": 3,\n  \"b\": 2\n}\n", 0},
	} {
		var base []byte
		if tt.base != "" {
			base = []byte(tt.base)
		}
		ours, theirs := []byte(tt.ours), []byte(tt.theirs)
		for range 2 {
			got, warnings, err := threeway.BaseConfig(base, ours, theirs)
			if err != nil || string(got) != tt.want || len(warnings) != tt.warned {
				t.Errorf("%v %q: %s of %s, %s and %s", err, warnings, got, base, ours, theirs)
			}
			ours, theirs = theirs, ours
		}
	}
}

// If two conversations with the same id are merged, the turns of both keep their configuration.
func TestMergeWithoutBaseRestoresConfig(t *testing.T) {
	side := func(words, config string) threeway.Side {
		return threeway.Side{Stream: talk(t, words), BaseConfig: []byte(config)}
	}
	r, err := threeway.Merge(threeway.Side{}, side("1", `{"x":"one"}`), side("2", `{"x":"two"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := said(r.Stream); got != "1 [dtwo] T^ 2" || string(r.BaseConfig) != "{\n  \"x\": \"one\"\n}\n" {
		t.Errorf("%s under %s", got, r.BaseConfig)
	}
	known := side("1 da 2", `{"x":"base"}`)
	r, err = threeway.Merge(side("1", `{"x":"base"}`), known, side("1 3", `{"x":"base"}`))
	if err != nil || said(r.Stream) != "1 da 2 [dbase] T^ 3" || len(r.Warnings) > 0 {
		t.Errorf("%s, %v, %q", said(r.Stream), err, r.Warnings)
	}
}

func TestMergeFold(t *testing.T) {
	base := threeway.Side{Stream: talk(t, "1")}
	parent := func(words string) threeway.Step {
		return threeway.Step{Base: base, Theirs: threeway.Side{Stream: talk(t, words)}}
	}
	r, err := threeway.Fold(threeway.Side{Stream: talk(t, "1 2 5")}, parent("1 3"), parent("1 4"))
	if err != nil || said(r.Stream) != "1 2 5 T^ 3 T^ 4" || len(r.Conflicts) > 0 {
		t.Errorf("%s, %v, %v", said(r.Stream), err, r.Conflicts)
	}
	r, err = threeway.Fold(threeway.Side{Stream: talk(t, "1e")}, parent("1 3"), parent(""))
	if err != nil || len(r.Conflicts) != 1 || r.Conflicts[0].Kind != threeway.ConflictRemoved {
		t.Errorf("%v, %v", err, r.Conflicts)
	}
}

// A virtual base has the state from before both sides changed it, so that a conflict which was
// resolved in two ways is reported again.
func TestMergeVirtualBase(t *testing.T) {
	side := func(words string) threeway.Side { return threeway.Side{Stream: talk(t, words)} }
	for _, pair := range [][2]string{{"1 2", "1 2e"}, {"1 2e", "1 2"}} {
		r, err := threeway.VirtualBase(side("1 2-"), side(pair[0]), side(pair[1]))
		if err != nil || said(r.Stream) != "1 2" || r.Stream.Len() != talk(t, "1 2-").Len() {
			t.Errorf("%s, %v", said(r.Stream), err)
		}
	}
}

// metadata.json is merged the same whichever side is ours.
func TestMergeMetadataCommutes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		file := func(name string) []byte {
			d := events.Details{LastActivatedAt: noon.AddDate(0, 0, rapid.IntRange(0, 2).Draw(rt, name))}
			if rapid.Bool().Draw(rt, "titled") {
				title := rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "title")
				d.Title = &title
			}
			if rapid.Bool().Draw(rt, "pinned") {
				at := noon.AddDate(0, 0, rapid.IntRange(0, 2).Draw(rt, "pin"))
				d.PinnedAt = &at
			}
			d.Labels = rapid.MapOf(rapid.SampledFrom([]string{"x", "y"}),
				rapid.SampledFrom([]string{"1", "2"})).Draw(rt, "labels")
			return d.Encode()
		}
		base, a, b := file("base"), file("a"), file("b")
		x, err := threeway.Metadata(base, a, b)
		if err != nil {
			rt.Fatal(err)
		}
		y, err := threeway.Metadata(base, b, a)
		if err != nil || string(x) != string(y) {
			rt.Fatalf("%s\nand\n%s", x, y)
		}
	})
}
