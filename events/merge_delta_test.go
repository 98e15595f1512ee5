package events_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
)

// Turns are removed one after the other and on several branches, and their deltas stay.
// Each way is a row of merges, "result=base,ours,theirs". All lead to the same bytes.
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
			"[da] 3 4",
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
	} {
		t.Run(tt.name, func(t *testing.T) {
			var first []byte
			for _, way := range tt.ways {
				s := walkWay(t, tt.commits, way)
				got := said(s)
				if base := s.Encode(); first == nil {
					first = base
				} else if string(base) != string(first) {
					t.Errorf("%s gives other bytes:\n%s\n%s", way, base, first)
				}
				if plain := strings.ReplaceAll(got, "T^ ", ""); plain != tt.want {
					t.Errorf("%s gives %s, not %s", way, got, tt.want)
				}
			}
		})
	}
}

func walkWay(t *testing.T, commits map[string]string, way string) *events.Stream {
	t.Helper()
	states := map[string]*events.Stream{}
	for name, words := range commits {
		states[name] = talk(t, words)
	}
	for _, step := range strings.Fields(way) {
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
