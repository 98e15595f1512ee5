package events_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
)

// talk builds a stream from words: "3" is turn 3, begun in minute 3 and complete; "3-" lacks its
// answer; "3e" has another answer, "3t" another question; "3p" is pinned, "3m" spelled
// otherwise; "3l" has no turn_start; "d…" is a config_delta that sets x to the rest of the word; "m3" an answer alone, "k3" and "k03" calls with one id,
// "r3" a result; "c1..2" a compaction of turns by position; "s1..2" a summary; "u…" an element of an unknown kind.
func talk(t *testing.T, words string) *events.Stream {
	t.Helper()
	var elems []string
	for w := range strings.FieldsSeq(words) {
		elems = append(elems, word(w)...)
	}
	s, err := events.Decode([]byte("[\n  " + strings.Join(elems, ",\n  ") + "\n]\n"))
	if err != nil {
		t.Fatalf("%s: %v", words, err)
	}
	return s
}

func word(w string) []string {
	arg := w[1:]
	switch w[0] {
	case 'd':
		return []string{fmt.Sprintf(
			`{"type":"config_delta","timestamp":"2025-12-01 00:00:00.0","delta":{"x":%q}}`, arg)}
	case 'c', 's':
		var from, to int
		fmt.Sscanf(arg, "%d..%d", &from, &to)
		policy := `"reasoning":"strip"`
		if w[0] == 's' {
			policy = `"summary":{"summary":"all that"}`
		}
		return []string{fmt.Sprintf(`{"type":"compaction","timestamp":"2027-01-01 00:00:00.0",`+
			`"from_turn":%d,"to_turn":%d,%s}`, from, to, policy)}
	case 'u':
		return []string{fmt.Sprintf(
			`{"timestamp":"2026-01-01 09:00:00.0","type":"future","n":%q}`, arg)}
	}
	name := strings.TrimLeft(strings.TrimRight(w, "-eltpm"), "mkr")
	var minute int
	fmt.Sscan(name, &minute)
	at := func(sec int) string { return fmt.Sprintf("2026-01-01 00:%02d:%02d.0", minute, sec) }
	var out []string
	switch w[0] {
	case 'm':
		return []string{fmt.Sprintf(
			`{"timestamp":%q,"type":"chat_response","message":"a%s"}`, at(2), name)}
	case 'k':
		return []string{fmt.Sprintf(`{"timestamp":%q,"type":"tool_call_request","id":"%d",`+
			`"name":"x%s","arguments":{}}`, at(2), minute, name)}
	case 'r':
		return []string{fmt.Sprintf(`{"timestamp":%q,"type":"tool_call_response","id":"%d",`+
			`"content":"","is_error":false}`, at(2), minute)}
	}
	if !strings.Contains(w, "l") {
		out = append(out, fmt.Sprintf(`{"timestamp":%q,"type":"turn_start"}`, at(0)))
	}
	question := "q" + name
	if strings.Contains(w, "t") {
		question += "~"
	}
	metadata := ""
	if strings.Contains(w, "p") {
		metadata = `,"metadata":{"git_jp_pin":"dHVybg=="}`
	}
	space := ""
	if strings.Contains(w, "m") {
		space = " "
	}
	out = append(out, fmt.Sprintf(`{%s"timestamp":%q,"type":"chat_request","content":%q%s}`,
		space, at(1), question, metadata))
	if strings.Contains(w, "-") {
		return out
	}
	answer := "a" + name
	if strings.Contains(w, "e") {
		answer = "edited by hand"
	}
	return append(out, fmt.Sprintf(`{"timestamp":%q,"type":"chat_response","message":%q}`, at(2), answer))
}

// said is the inverse of talk for merged streams: requests by name, edited answers as e, notes of a
// merge as ^, its own turn_starts as T*, its own deltas in brackets.
func said(s *events.Stream) string {
	var words []string
	for _, e := range s.All() {
		switch ev := e.Event().(type) {
		case *events.TurnStart:
			w := "T"
			if _, ok := e.Metadata().Value(events.MetadataSeam); ok {
				w += "*"
			}
			if _, ok := e.Metadata().Value(events.MetadataParent); ok {
				w += "^"
			}
			if w != "T" {
				words = append(words, w)
			}
		case *events.ChatRequest:
			w := ev.Content[1:]
			if _, ok := e.Metadata().Value("git_jp_pin"); ok {
				w += "p"
			}
			words = append(words, w)
		case *events.ChatResponse:
			if !strings.HasPrefix(ev.Text, "a") {
				words = append(words, "("+ev.Text[:1]+")")
			}
		case *events.ConfigDelta:
			w := "d" + string(ev.Delta)
			if strings.Contains(string(e.Raw()), events.MetadataSeam) {
				w = "[" + w + "]"
			}
			words = append(words, strings.NewReplacer(`{"x":"`, "", `"}`, "").Replace(w))
		case *events.Compaction:
			kind := "c"
			if ev.Summary != nil {
				kind = "s"
			}
			words = append(words, fmt.Sprintf("%s%d..%d", kind, ev.FromTurn, ev.ToTurn))
		default:
			words = append(words, "u")
		}
	}
	return strings.Join(words, " ")
}

func merged(t *testing.T, base, ours, theirs *events.Stream) threeway.Result {
	t.Helper()
	r, err := threeway.Merge(threeway.Side{Stream: base}, threeway.Side{Stream: ours}, threeway.Side{Stream: theirs})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMergeOfTwo(t *testing.T) {
	for _, tt := range []struct{ name, base, ours, theirs, want, conflict string }{
		{"both append", "1", "1 3 4", "1 2 5", "1 2 5 T^ 3 4", ""},
		{"the same", "1", "1 2", "1 2", "1 2", ""},
		{"one went on", "1 2-", "1 2", "1 2-", "1 2", ""},
		{"went on and a new turn", "1 2-", "1 2", "1 2- 3", "1 2 3", ""},
		{"both went on", "1 2-", "1 2", "1 2e", "1 2", "edited"},
		{"append and edit", "1 2", "1 2 3", "1e 2", "1 (e) 2 3", ""},
		{"append and delete", "1 2", "1 2 3", "2", "2 3", ""},
		{"append to what was deleted", "1 2", "1 2 3", "1", "1 T^ 3", ""},
		{"both delete", "1 2 3", "1 3", "1 2", "1", ""},
		{"neighbours deleted", "1 2 3 4", "1 3 4", "1 2 4", "1 T^ 4", ""},
		{"edit and delete", "1 2", "1 2e", "1", "1 2 (e)", "removed"},
		{"both edit", "1 2", "1e 2", "1 2e", "1 (e) 2 (e)", ""},
		{"pinned and removed", "1 2", "1 2p", "1", "1 2p", "removed"},
		{"unpinned and removed", "1 2p", "1 2", "1", "1", ""},
		{"pinned and laid out again", "1 2", "1 2p", "1 2m", "1 2p", ""},
		{"pinned and answered otherwise", "1 2", "1 2p", "1 2e", "1 2p (e)", ""},
		{"pinned and mended", "1 2", "1 2p", "1 2t", "1 2p", "edited"},
		{"picked and pinned", "1", "1 4p", "1 4", "1 4p", ""},
		{"moved and appended", "1 2 3", "1 3 2", "1 2 3 4", "1 3 2 T^ 4", ""},
		{"no base", "", "1 2", "1 3", "1 2 T^ 3", ""},
		{"cherry-picked", "1", "1 3 4", "1 4", "1 3 4", ""},
		{"picked and its question mended", "1", "1 4", "1 4t", "1 4", "edited"},
		{"picked, mended and continued", "1", "1 4 5", "1 4t 6", "1 4 5 T^ 6", "edited"},
		{"two of one time", "1", "1 4-", "1 4t-", "1 4 T^ 4~", ""},
		{"two of one time, one picked", "1", "1 4 4t-", "1 4", "1 4 4~", ""},
		{"legacy", "1l", "1l 3l", "1l 2l", "1 2 T*^ 3", ""},
		{"legacy and not", "1l 2l", "1 2l 3", "1l 2l 4l", "1 2 3 T*^ 4", ""},
		{"deltas", "1", "1 da 2", "1 3", "1 da 2 [d{}] T^ 3", ""},
		{"both deltas", "1 d0 2", "1 d0 2 da 3", "1 d0 2 4", "1 d0 2 da 3 [d0] T^ 4", ""},
		{"trailing delta taken up by both", "1 da", "1 da 2", "1 da 3", "1 da 2 da T^ 3", ""},
		{"a delta removed by hand", "da 1 2", "1 2", "da 1 2e", "1 2 (e)", ""},
		{"a delta in a turn", "1 2- da m2 3", "1 2- da m2 3 4", "1e 2- da m2 3", "1 (e) 2 da 3 4", ""},
		{"went with its turn", "1 2- da m2 3", "1 3", "1e 2- da m2 3", "1 (e) 3", ""},
		{"left by its turn", "1 2- da m2 3", "1 da 3", "1 2- da m2 3 4", "1 da 3 4", ""},
		{"compaction and append", "1 2 3", "1 2 3 c0..1", "1 2 3 4", "1 2 3 c0..1 4", ""},
		{"compaction of what comes apart", "1", "1 3 4 c0..2", "1 2", "1 2 T^ 3 4 c0..0 c2..3", ""},
		{"summary of what comes apart", "1", "1 3 4 s0..2", "1 2", "1 2 T^ 3 4 s2..3", ""},
		{"another call of the id", "3- k3", "3- k3 r3", "3- k03 k3", "3 u u", "edited"},
		{"both compact", "1 2 3", "1 2 3 c0..1", "1 2 3 s0..1", "1 2 3 s0..1 c0..1", ""},
		{"compaction and deletion", "1 2 3", "1 2 3 c1..2", "2 3", "2 3 c0..1", ""},
		{"unknown elements", "1", "1 u1 2", "1 u2 3", "1 u u 2 T^ 3", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, ours, theirs := talk(t, tt.base), talk(t, tt.ours), talk(t, tt.theirs)
			r := merged(t, base, ours, theirs)
			if tt.name == "deltas" {
				tt.want = strings.Replace(tt.want, " [d{}]", "", 1) // its former value is unknown
				if len(r.Warnings) != 1 {
					t.Errorf("warnings are %q", r.Warnings)
				}
			}
			if got := said(r.Stream); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			kind := ""
			for _, c := range r.Conflicts {
				kind += string(c.Kind)
			}
			if kind != tt.conflict {
				t.Errorf("conflict is %q, not %q", kind, tt.conflict)
			}
			other := merged(t, base, theirs, ours)
			if kind == "" && string(other.Stream.Encode()) != string(r.Stream.Encode()) {
				t.Errorf("the other way around it is %s", said(other.Stream))
			}
		})
	}
}

// TestResolve checks that the result is valid for every choice, and that conflicts can be read back
// from their record.
func TestResolve(t *testing.T) {
	for _, tt := range []struct{ name, base, ours, theirs, want, wantTheirs, wantBoth string }{
		{"edited", "1 2- 3", "1 2 3", "1 2e 3", "1 2 3", "1 2 (e) 3", "1 2 2 (e) T^ 3"},
		{"removed by us", "1 2 3", "1 3 4", "1 2e 3", "1 3 4", "1 2 (e) T^ 3 4", "1 2 (e) T^ 3 4"},
		{"removed by them", "1 2 3", "1 2e 3", "1 3", "1 2 (e) T^ 3", "1 3", "1 2 (e) T^ 3"},
		{"compaction", "1 2- 3 c0..1", "1 2 3 c0..1", "1 2e 3 c0..1", "1 2 3 c0..1", "1 2 (e) 3 c0..1", "1 2 2 (e) T^ 3 c0..1"},
		{"begins with another event", "m3 m03 m1 7", "m03 m1 m5 7", "m3 m1 m6 7", "7", "7", "T* T^ 7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := merged(t, talk(t, tt.base), talk(t, tt.ours), talk(t, tt.theirs))
			cs, err := threeway.DecodeConflicts(threeway.EncodeConflicts(r.Conflicts))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cs {
				for choice, want := range []string{tt.want, tt.wantTheirs, tt.wantBoth} {
					s, err := threeway.Resolve(r.Stream, c, threeway.Choice(choice))
					if err != nil {
						t.Fatal(err)
					}
					if got := said(s); got != want {
						t.Errorf("choice %d gives %s, not %s", choice, got, want)
					}
				}
			}
			if len(cs) == 0 {
				t.Error("there is no conflict")
			}
		})
	}
}
