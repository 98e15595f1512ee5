package events_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/go-json-experiment/json/jsontext"
)

// Turns are removed one after the other on several branches, and their deltas are kept.
func TestMergeDeltasOfRemovedTurns(t *testing.T) {
	for _, tt := range []struct {
		name    string
		commits map[string]string
		ways    []string
		want    string
	}{
		{
			"removed on, while another removed where it moved to",
			map[string]string{"o": "da 1 2 3", "a": "da 2 3", "a2": "da 3", "b": "da 1 3"},
			[]string{"r=o,a2,b", "x=o,a,b r=a,a2,x", "x=o,b,a r=a,x,a2"},
			"da 3",
		},
		{
			"removed twice, and on",
			map[string]string{"o": "da 1 2 3", "a": "da 2 3", "a2": "da 3", "c": "da 2 3 4"},
			[]string{"r=o,a2,c", "x=o,a,c r=a,a2,x", "x=o,c,a r=a,x,a2"},
			"da 3 4",
		},
		{
			"nobody who removed the first saw the second go",
			map[string]string{"o": "da 1 2 3", "a": "da 2 3", "b": "da 1 3", "c": "da 1 2 3 4"},
			[]string{
				"x=o,a,b r=o,x,c", "x=o,a,c r=o,x,b", "x=o,b,c r=o,a,x", "x=o,a,c y=o,b,c r=c,x,y",
			},
			"[da] 3 4 da",
		},
		{
			"taken over by turns of two branches, of which one went",
			map[string]string{
				"o": "da 1 2", "a": "da 1 2 4", "a2": "da 4", "b": "da 1 2", "c": "da 3",
			},
			[]string{"x=o,a2,c r=a,x,b", "x=a,a2,b r=o,x,c", "x=o,c,a2 r=a,b,x"},
			"da 3",
		},
		{
			"at the end, taken over, and left again",
			map[string]string{"o": "1 da", "x1": "1 da 2", "y": "1 da 3", "z": "1 da"},
			[]string{"p=o,x1,y r=x1,p,z", "p=x1,x1,z r=o,p,y", "p=o,z,y r=o,y,p"},
			"1 da 3",
		},
		{
			"left at the end, given to a turn, and that removed by one who knew neither",
			map[string]string{"o": "da 1", "a": "da", "b": "da 1 2", "w": "da 2", "v": "da 1"},
			[]string{"x=o,a,w r=b,x,v", "x=o,a,v r=b,x,w", "x=b,w,v r=o,a,x"},
			"da",
		},
		{
			"taken away by one, left at the end by another, and taken over",
			map[string]string{"o": "da 1", "a": "", "b": "da", "b2": "da 3", "w": "da 4"},
			[]string{"x=o,a,b2 r=b,x,w", "x=b,b2,w r=o,a,x", "x=o,a,b y=b,x,b2 r=b,y,w"},
			"[da] 3 4",
		},
	} {
		t.Run(tt.name, func(t *testing.T) { sameWays(t, tt.commits, tt.ways, tt.want) })
	}
}

// A turn is cherry-picked, and then the turn before it is removed: the branch that records the
// earlier turn as its parent knows more.
func TestMergeOrderOfPickedTurns(t *testing.T) {
	sameWays(t,
		map[string]string{
			"o": "1", "a3": "1 3", "a4": "1 3 4", "b": "1 5", "c": "1 4", "d": "",
		},
		[]string{
			"p=a3,b,a4 x=o,c,d r=o,x,p",
			"p=a3,b,a4 y=o,a4,p z=o,y,d r=a4,z,c",
			"p=a3,b,a4 y=o,p,c r=o,d,y",
		}, "4 5")
}

// An element after a removed turn moves after the turn before it, and stays there when that turn is
// continued.
func TestMergeBehindATurnThatGoesOn(t *testing.T) {
	sameWays(t,
		map[string]string{"o": "1 2", "a": "1 2 u", "b": "1", "c": "1 m1"},
		[]string{"r=o,a,c", "x=o,a,b r=b,x,c", "x=o,b,a r=b,c,x"}, "1 u")
}

// sameWays follows several sequences of merges, each given as "result=base,ours,theirs" steps,
// which must lead to the same bytes.
func sameWays(t *testing.T, commits map[string]string, ways []string, want string) {
	t.Helper()
	var first []byte
	for _, way := range ways {
		s := walkWay(t, commits, way)
		if b := s.Encode(); first == nil {
			first = b
		} else if string(b) != string(first) {
			t.Errorf("%s gives other bytes:\n%s\n%s", way, b, first)
		}
		if plain := strings.ReplaceAll(said(s), "T^ ", ""); plain != want {
			t.Errorf("%s gives %s, not %s", way, said(s), want)
		}
	}
}

func walkWay(t *testing.T, commits map[string]string, way string) *events.Stream {
	t.Helper()
	states := map[string]*events.Stream{}
	for name, words := range commits {
		states[name] = talk(t, words)
	}
	for step := range strings.FieldsSeq(way) {
		to, of, _ := strings.Cut(step, "=")
		from := strings.Split(of, ",")
		r := merged(t, states[from[0]], states[from[1]], states[from[2]])
		if len(r.Conflicts) > 0 {
			t.Fatalf("%s: a conflict", step)
		}
		states[to] = r.Stream
	}
	return states["r"]
}

// Settings of a delta at the end do not override those that a newer delta set for a turn, neither
// if it was added there nor if its turns were removed.
func TestMergeEndsWithTheNewest(t *testing.T) {
	old := `{"type":"config_delta","timestamp":"2026-01-01 00:10:00.0","delta":` +
		`{"x":"a","deep":{"p":"a","q":"a"},"list":["a"]}}`
	newer := `{"type":"config_delta","timestamp":"2026-01-01 00:12:00.0","delta":` +
		`{"x":"b","deep":{"p":"b"},"list":{"value":["b"],"strategy":"replace"}}}`
	for _, tt := range []struct{ name, base, ours, theirs, want string }{
		{
			"left by one", "1", "1 OLD", "1 NEW 13",
			`{"deep":{"p":"b","q":"a"},"list":["b"],"x":"b"}`,
		},
		{
			"whose turns went", "OLD 1 2", "OLD 2", "OLD 1 NEW 13",
			`{"deep":{"p":"b","q":"a"},"list":["b"],"x":"b"}`,
		},
		{
			"the newest at the end", "1", "1 NEW", "1 OLD 11",
			`{"deep":{"p":"b","q":"a"},"list":["b"],"x":"b"}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			side := func(words string) threeway.Side {
				var elems []string
				for w := range strings.FieldsSeq(words) {
					switch w {
					case "OLD":
						elems = append(elems, old)
					case "NEW":
						elems = append(elems, newer)
					default:
						elems = append(elems, word(w)...)
					}
				}
				s, err := events.Decode([]byte("[" + strings.Join(elems, ",") + "]"))
				if err != nil {
					t.Fatal(err)
				}
				return threeway.Side{Stream: s}
			}
			r, err := threeway.Merge(side(tt.base), side(tt.ours), side(tt.theirs))
			if err != nil || len(r.Conflicts) > 0 {
				t.Fatal(err, r.Conflicts)
			}
			c, err := settings.InForce(r.Stream, settings.Config{}, r.Stream.Len(), 0)
			if err != nil {
				t.Fatal(err)
			}
			got, err := jsontext.AppendFormat(nil, c.Plain(), jsontext.ReorderRawObjects(true))
			if err != nil || string(got) != tt.want {
				t.Errorf("ends with %s, not %s: %v\n%s", got, tt.want, err, r.Stream.Encode())
			}
		})
	}
}
