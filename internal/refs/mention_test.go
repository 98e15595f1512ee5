package refs_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/refs"
)

const head = `[{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_response","id":"a",` +
	`"is_error":false,"content":[{"type":"text","content":{"$blob":"`

const chunks = `[{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_response","id":"a",` +
	`"is_error":false,"content":[{"type":"text","content":{"$chunks":"`

// A turn_start has no further members, and the reference does not look like a hash.
var escaped = `[{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start","x":{"$blob":"` +
	fmt.Sprintf(`\u%04x`, one.String()[0]) + one.String()[1:] + `"}}]`

const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:"

var (
	one = blobs.Sum([]byte("one"))
	two = blobs.Sum([]byte("two"))
)

func TestMentions(t *testing.T) {
	for _, tt := range []struct {
		name, data    string
		sure, loose   []blobs.Hash
		damaged, dark bool
	}{
		{"none", "[]", nil, nil, false, false},
		{"one", head + one.String() + `","size":1}}]}]`, []blobs.Hash{one}, nil, false, false},
		{"of a kind to come", `[{"type":"x","y":{"$blob":"` + two.String() + `"}}]`, nil, []blobs.Hash{two}, false, false},
		{"content of a form to come", chunks + one.String() + `"}}]}]`, nil, []blobs.Hash{one}, true, false},
		{"content of an encoding to come", chunks + `AQID"}}]}]`, nil, nil, true, false},
		{"a member to come", escaped, nil, []blobs.Hash{one}, true, false},
		{"conflict", "<<<<<<< a\n" + one.String() + "\n===\n" + two.String(), nil, sortedHashes(one, two), true, false},
		{"empty", "", nil, nil, true, false},
		{"pointer", pointer + one.String(), nil, []blobs.Hash{one}, true, true},
		{"encrypted", "[\x00\x01", nil, nil, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for range 2 { // computed, then remembered
				c := refs.Open(dir)
				id := refs.Sum([]byte(tt.data))
				m, err := c.Mentions().Or(id, func() (refs.Mentions, error) {
					return refs.MentionsIn([]byte(tt.data)), nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(m.Refs, tt.sure) || !slices.Equal(m.Loose, tt.loose) ||
					(m.Err != nil) != tt.damaged || m.Opaque != tt.dark {
					t.Errorf("mentions %+v", m)
				}
				if _, ok := c.Mentions().Of(id); !ok {
					t.Error("it is not remembered")
				}
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func sortedHashes(all ...blobs.Hash) []blobs.Hash {
	slices.SortFunc(all, blobs.Hash.Compare)
	return all
}

func TestHashesInTakesWholeRunsOnly(t *testing.T) {
	text := one.String() + "," + two.String()[:63] + "\n0" + two.String() + " " +
		strings.ToUpper(two.String())
	if got := refs.HashesIn([]byte(text)); !slices.Equal(got, []blobs.Hash{one}) {
		t.Errorf("found %v", got)
	}
}

func TestStreamsAndPlacesAreRemembered(t *testing.T) {
	dir := t.TempDir()
	id, other := refs.Sum([]byte("a")), refs.Sum([]byte("b"))
	short, _ := gitint.OIDOf(id.AppendBytes(nil)[:20]) // of the length used in SHA-1 repositories
	files := []refs.TreeFile{{Path: "x/events.json", Object: other}, {Path: "", Object: short}}
	places := []refs.Place{
		{Dir: "a/.jp", Conversations: other},
		{Dir: ".jp", Blobs: short, ID: other, Through: []gitint.OID{other, id}},
		{Dir: "", Conversations: other, Kind: refs.Stray},
	}
	for i := range 2 {
		c := refs.Open(dir)
		if i == 0 {
			c.Streams().Set(id, files)
			c.Places().Set(id, places)
		}
		if got, ok := c.Streams().Of(id); !ok || !slices.Equal(got, files) {
			t.Errorf("streams %v, %t", got, ok)
		}
		if got, ok := c.Places().Of(id); !ok || !reflect.DeepEqual(got, places) {
			t.Errorf("places %v, %t", got, ok)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
