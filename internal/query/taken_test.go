package query_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/workspace"
)

// TestQuestionThatIsTakenAwayComesBack removes the turn from the file while the model answers, as
// git stash and git checkout do: the answer is saved with its question, after the remaining
// elements.
func TestQuestionThatIsTakenAwayComesBack(t *testing.T) {
	s := newStage(t, t.TempDir())
	name := filepath.Join(
		s.workspace.Root(), filepath.FromSlash(s.entry.Path), workspace.EventsFile)
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	away := func(then act) act {
		return func(a *llm.Assembler) error {
			taken++
			if err := os.WriteFile(name, before, 0o644); err != nil {
				t.Error(err)
			}
			return then(a)
		}
	}
	m := &player{acts: []act{away(calls("1")), away(say(llm.StopEnd, "the answer"))}}
	turn := s.turn(m, waiter{order: []string{"1"}})
	if _, err := turn.Run(t.Context(), ask("the question")); err != nil {
		t.Fatal(err)
	}
	got := s.stored(t)
	for _, want := range []string{"the question", "result of 1", "the answer"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q stands there %d times:\n%s", want, strings.Count(got, want), got)
		}
	}
	if taken != 2 || strings.Index(got, "the question") > strings.Index(got, "the answer") {
		t.Errorf("taken %d times:\n%s", taken, got)
	}
}

// overwriter writes a file at the first save of a message, after as many as it skips.
type overwriter struct {
	skip      int
	overwrite func()
}

func (o *overwriter) Saved(e *events.Element) {
	if e.Kind() != events.KindChatResponse {
		return
	}
	if o.skip--; o.skip == -1 {
		o.overwrite()
	}
}

func (*overwriter) Sending(*llm.Request) {}
func (*overwriter) Delta(llm.Delta)      {}
func (*overwriter) Notice(string)        {}

// TestAnswerThatIsTakenAwayComesBack puts an older file back after the last save, as a git merge
// that fails in a working tree with changes does: from before the turn, or with its question.
func TestAnswerThatIsTakenAwayComesBack(t *testing.T) {
	for _, asked := range []bool{false, true} {
		s := newStage(t, t.TempDir())
		name := filepath.Join(
			s.workspace.Root(), filepath.FromSlash(s.entry.Path), workspace.EventsFile)
		older := func() []byte {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
		put := older()
		m := &player{acts: []act{func(a *llm.Assembler) error {
			if asked {
				put = older()
			}
			return say(llm.StopEnd, "the answer")(a)
		}}}
		turn := s.turn(m, waiter{})
		turn.Watch = &overwriter{overwrite: func() {
			if err := os.WriteFile(name, put, 0o644); err != nil {
				t.Error(err)
			}
		}}
		if _, err := turn.Run(t.Context(), ask("the question")); err != nil {
			t.Fatal(err)
		}
		got := s.stored(t)
		for _, want := range []string{"the question", "the answer"} {
			if strings.Count(got, want) != 1 {
				t.Errorf("asked %t: %q is there %d times:\n%s", asked, want,
					strings.Count(got, want), got)
			}
		}
	}
}

// TestWhatComesBackIsLeftAlone puts an older file in place and the newer one back, or removes the
// conversation for a moment, as a git merge that fails does: it applies no changes at all, of no
// file, if one of them was written in between.
func TestWhatComesBackIsLeftAlone(t *testing.T) {
	for _, removed := range []bool{false, true} {
		s := newStage(t, t.TempDir())
		dir := filepath.Join(s.workspace.Root(), filepath.FromSlash(s.entry.Path))
		name, away := filepath.Join(dir, workspace.EventsFile), filepath.Join(t.TempDir(), "away")
		older, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		back := make(chan error, 1)
		m := &player{acts: []act{func(a *llm.Assembler) error {
			newer, err := os.ReadFile(name)
			if removed {
				err = errors.Join(err, os.Rename(dir, away))
			} else {
				err = errors.Join(err, os.WriteFile(name, older, 0o644))
			}
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(200*time.Millisecond, func() {
				if removed {
					back <- os.Rename(away, dir)
					return
				}
				now, err := os.ReadFile(name)
				if !bytes.Equal(now, older) {
					back <- errors.Join(err, errors.New("it was written in between"))
					return
				}
				back <- os.WriteFile(name, newer, 0o644)
			})
			return say(llm.StopEnd, "the answer")(a)
		}}}
		turn := s.turn(m, waiter{})
		if _, err := turn.Run(t.Context(), ask("the question")); err != nil {
			t.Errorf("removed %t: %v", removed, err)
		}
		if err := <-back; err != nil {
			t.Errorf("removed %t: %v", removed, err)
		}
		got := s.stored(t)
		for _, want := range []string{"the question", "the answer"} {
			if strings.Count(got, want) != 1 {
				t.Errorf("removed %t: %q is there %d times", removed, want, strings.Count(got, want))
			}
		}
	}
}

// TestLostConversationGoesOnInAFork removes the conversation, or damages it, while the model
// answers: the question, what was said and what comes after that are in a fork.
func TestLostConversationGoesOnInAFork(t *testing.T) {
	for _, removed := range []bool{false, true} {
		s := newStage(t, t.TempDir())
		dir := filepath.Join(s.workspace.Root(), filepath.FromSlash(s.entry.Path))
		lose := func(then act) act {
			return func(a *llm.Assembler) error {
				err := os.WriteFile(filepath.Join(dir, workspace.EventsFile), []byte("<<<<<<<"), 0o644)
				if removed {
					err = os.RemoveAll(dir)
				}
				if err != nil {
					t.Error(err)
				}
				return then(a)
			}
		}
		m := &player{acts: []act{lose(calls("1", "2")), say(llm.StopEnd, "the answer")}}
		turn := s.turn(m, waiter{order: []string{"2", "1"}})
		moved := 0
		turn.Record = query.Held(s.workspace, s.hold, func(e workspace.Entry) {
			s.entry = e
			moved++
		})
		if _, err := turn.Run(t.Context(), ask("the question")); err != nil {
			t.Errorf("removed %t: %v", removed, err)
		}
		got := s.stored(t)
		for _, want := range []string{"the question", "result of 1", "result of 2", "the answer"} {
			if strings.Count(got, want) != 1 {
				t.Errorf("removed %t: %q is there %d times:\n%s", removed, want,
					strings.Count(got, want), got)
			}
		}
		if moved != 1 || strings.Index(got, "result of 1") > strings.Index(got, "result of 2") {
			t.Errorf("removed %t: moved %d times:\n%s", removed, moved, got)
		}
	}
}

// TestShorterEditIsKept removes an element of the answer in an editor after the last save: the rest
// is there once, and the removed element does not come back.
func TestShorterEditIsKept(t *testing.T) {
	s := newStage(t, t.TempDir())
	name := filepath.Join(
		s.workspace.Root(), filepath.FromSlash(s.entry.Path), workspace.EventsFile)
	turn := s.turn(&player{acts: []act{say(llm.StopEnd, "first part", "second part")}}, nil)
	turn.Watch = &overwriter{skip: 1, overwrite: func() {
		var all []json.RawMessage
		data, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(data, &all)
		}
		if err != nil {
			t.Fatal(err)
		}
		data, _ = json.Marshal(slices.Delete(all, len(all)-2, len(all)-1))
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Error(err)
		}
	}}
	if _, err := turn.Run(t.Context(), ask("the question")); err != nil {
		t.Fatal(err)
	}
	got := s.stored(t)
	if strings.Contains(got, "first part") || strings.Count(got, "second part") != 1 {
		t.Errorf("got %s, want the second part only", got)
	}
}
