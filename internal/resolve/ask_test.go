package resolve

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/render"
)

// responses returns elements with these texts.
func responses(t *testing.T, words ...string) (all []*events.Element) {
	t.Helper()
	var parts []string
	for _, word := range words {
		parts = append(parts, fmt.Sprintf(
			`{"timestamp":"2026-01-01 00:00:00.0","type":"chat_response","message":%q}`, word))
	}
	s, err := events.Decode([]byte("[" + strings.Join(parts, ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.All() {
		all = append(all, e)
	}
	return all
}

// A bench is a run that asks no questions.
type bench struct {
	*Run

	said bytes.Buffer
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{}
	b.Run = &Run{
		Options: Options{Terminal: &ask.Terminal{Printer: render.Printer{Err: &b.said}}},
		answers: merge.Answers{Dir: t.TempDir(), Now: time.Now},
		merge:   "this merge",
		rerere:  true,
	}
	return b
}

func conflicts(t *testing.T, n int) (all []threeway.Conflict) {
	t.Helper()
	for i := range n {
		all = append(all, threeway.Conflict{
			Turn:   fmt.Sprintf("turn %d", i),
			Ours:   responses(t, fmt.Sprint("ours ", i)),
			Theirs: responses(t, fmt.Sprint("theirs ", i)),
		})
	}
	return all
}

// TestWhichAnswerCounts: an answer of this merge precedes the command line, which precedes one of
// an earlier merge, which requires rerere.
func TestWhichAnswerCounts(t *testing.T) {
	const here, before = "this merge", ""
	for name, tt := range map[string]struct {
		saved  merge.Answer
		in     string // the merge in which it was given
		flag   merge.Answer
		forget bool
		rerere bool
		want   merge.Answer
	}{
		"none":                          {rerere: true},
		"of the command line":           {flag: merge.Theirs, rerere: true, want: merge.Theirs},
		"of this merge":                 {saved: merge.Ours, in: here, flag: merge.Theirs, want: merge.Ours},
		"of another one that is open":   {saved: merge.Ours, in: "another", rerere: true, want: merge.Ours},
		"of an earlier one":             {saved: merge.Ours, in: before, rerere: true, want: merge.Ours},
		"of an earlier one, and a flag": {saved: merge.Ours, flag: merge.Both, rerere: true, want: merge.Both},
		"of an earlier one, no rerere":  {saved: merge.Ours, in: before},
		"forgotten":                     {saved: merge.Ours, in: here, forget: true, rerere: true},
		"a fork of this merge":          {saved: merge.Fork, in: here, want: merge.Fork},
		"a fork of an earlier one":      {saved: merge.Fork, in: before, rerere: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Answer, b.Forget, b.rerere = tt.flag, tt.forget, tt.rerere
			c := conflicts(t, 1)[0]
			if tt.saved != "" {
				if err := b.answers.Save(c, merge.Decision{Answer: tt.saved}, tt.in); err != nil {
					t.Fatal(err)
				}
			}
			got, err := b.decision(t.Context(), conflictQuestion{conflict: c, n: 1, of: 1})
			if err != nil || got.Answer != tt.want {
				t.Errorf("got %q, %v, want %q", got.Answer, err, tt.want)
			}
		})
	}
}

// TestAnswersAreKeptOneByOne: a case is decided once all of its conflicts are, and answers given
// until then are not asked for again.
func TestAnswersAreKeptOneByOne(t *testing.T) {
	b := newBench(t)
	all := conflicts(t, 2)
	item := merge.Case{Record: &merge.Record{Conflicts: all}}
	if err := b.answers.Save(all[1], merge.Decision{Answer: merge.Ours}, b.merge); err != nil {
		t.Fatal(err)
	}
	if got, err := b.decisions(t.Context(), item); got != nil || err != nil {
		t.Errorf("with one of two: got %v, %v, want none", got, err)
	}
	if want := "answered 1 of 2 conflicts"; !strings.Contains(b.said.String(), want) {
		t.Errorf("said %q, want %q", &b.said, want)
	}
	b.Answer = merge.Theirs
	got, err := b.decisions(t.Context(), item)
	if err != nil || len(got) != 2 || got[0].Answer != merge.Theirs || got[1].Answer != merge.Ours {
		t.Errorf("with a flag for the rest: got %v, %v, want theirs and ours", got, err)
	}
	b.Answer = ""
	if got, err := b.decisions(t.Context(), item); err != nil || len(got) != 2 {
		t.Errorf("the next time: got %v, %v, want both again", got, err)
	}
}

// TestWhatIsRemembered: all answers but a fork are kept for the next merge, and none without
// rerere.
func TestWhatIsRemembered(t *testing.T) {
	for _, rerere := range []bool{true, false} {
		b := newBench(t)
		b.rerere = rerere
		all := conflicts(t, 2)
		b.remember(all, []merge.Decision{{Answer: merge.Ours}, {Answer: merge.Fork}})
		for i, want := range []bool{rerere, false} {
			_, _, known, err := b.answers.Find(all[i], "the next merge")
			if known != want || err != nil {
				t.Errorf("rerere %v, conflict %d: known %v, %v, want %v", rerere, i, known, err, want)
			}
		}
	}
}

// TestBothSides checks that the edited text begins with ours, and has common elements only once.
func TestBothSides(t *testing.T) {
	c := threeway.Conflict{
		Ours: responses(t, "one", "two"), Theirs: responses(t, "two", "three", "one", "four"),
	}
	var got []string
	for _, e := range bothSides(c) {
		got = append(got, e.Event().(*events.ChatResponse).Text)
	}
	if want := []string{"one", "two", "three", "four"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(c.Ours) != 2 {
		t.Errorf("ours has %d elements now, want 2", len(c.Ours))
	}
}

// TestRemembers reads rerere.enabled as git does, except that it is on if unset.
func TestRemembers(t *testing.T) {
	r := gittest.Repo(t)
	for value, want := range map[string]bool{
		"": true, "true": true, "1": true, "false": false, "No": false, "off": false, "0": false,
	} {
		if value != "" {
			r.Run("config", "rerere.enabled", value)
		}
		repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := remembers(t.Context(), repo); got != want || err != nil {
			t.Errorf("%q: got %v, %v, want %v", value, got, err, want)
		}
		repo.Close()
		if value != "" {
			r.Run("config", "--unset", "rerere.enabled")
		}
	}
}
