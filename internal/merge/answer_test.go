package merge_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/merge"
)

// turnSaying returns a turn with one question.
func turnSaying(t *testing.T, text string) []*events.Element {
	t.Helper()
	s, err := events.Decode([]byte(`[
  {"timestamp": "2026-01-01 00:00:00.0", "type": "turn_start"},
  {"timestamp": "2026-01-01 00:00:01.0", "type": "chat_request", "content": "` + text + `"}
]`))
	if err != nil {
		t.Fatal(err)
	}
	var all []*events.Element
	for _, e := range s.All() {
		all = append(all, e)
	}
	return all
}

func TestAnswers(t *testing.T) {
	const open = "ours theirs"
	c := threeway.Conflict{
		Turn: "1/1", Base: turnSaying(t, "base"),
		Ours: turnSaying(t, "ours"), Theirs: turnSaying(t, "theirs"),
	}
	swapped := c
	swapped.Ours, swapped.Theirs = c.Theirs, c.Ours
	other := c
	other.Base = nil
	for _, tt := range []struct {
		name      string
		saved     merge.Answer
		in        string // the merge in which it was given
		asked     threeway.Conflict
		want      merge.Answer
		open, has bool
	}{
		{"progress", merge.Theirs, open, c, merge.Theirs, true, true},
		{"of another merge", merge.Theirs, "else", c, merge.Theirs, false, true},
		{"for good", merge.Ours, "", c, merge.Ours, false, true},
		{"the other way round, ours", merge.Ours, "", swapped, merge.Theirs, false, true},
		{"the other way round, theirs", merge.Theirs, "", swapped, merge.Ours, false, true},
		{"the other way round, both", merge.Both, "", swapped, merge.Both, false, true},
		{"written", merge.Edited, "", swapped, merge.Edited, false, true},
		{"a fork in this merge", merge.Fork, open, c, merge.Fork, true, true},
		{"a fork in another", merge.Fork, "", c, merge.Fork, false, false},
		{"another base", merge.Ours, "", other, "", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			as := merge.Answers{Dir: filepath.Join(t.TempDir(), "jp"), Now: time.Now}
			saved := merge.Decision{Answer: tt.saved}
			if tt.saved == merge.Edited {
				saved.Turn = turnSaying(t, "written")
			}
			if err := as.Save(c, saved, tt.in); err != nil {
				t.Fatal(err)
			}
			d, isOpen, has, err := as.Find(tt.asked, open)
			if err != nil || d.Answer != tt.want || isOpen != tt.open || has != tt.has {
				t.Fatalf("Find = %v, %v, %v, %v; want %v, %v, %v",
					d.Answer, isOpen, has, err, tt.want, tt.open, tt.has)
			}
			if len(d.Turn) != len(saved.Turn) {
				t.Errorf("the turn has %d elements, was given %d", len(d.Turn), len(saved.Turn))
			}
			if err := as.Forget(c); err != nil {
				t.Fatal(err)
			}
			if _, _, has, err := as.Find(tt.asked, open); has || err != nil {
				t.Errorf("it was not forgotten: %v, %v", has, err)
			}
		})
	}
}

func TestAnswersExpire(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	as := merge.Answers{Dir: dir, Now: func() time.Time { return now }}
	if err := as.Expire(); err != nil {
		t.Fatalf("without answers: %v", err)
	}
	young := threeway.Conflict{Turn: "1/1"}
	old := threeway.Conflict{Turn: "2/2"}
	for _, c := range []threeway.Conflict{young, old} {
		if err := as.Save(c, merge.Decision{Answer: merge.Ours}, ""); err != nil {
			t.Fatal(err)
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "answers", "*.json"))
	if err != nil || len(names) != 2 {
		t.Fatalf("%d answers, %v", len(names), err)
	}
	const days = 24 * time.Hour
	then := now.Add(-61 * days)
	for _, name := range names {
		if err := os.Chtimes(name, then, then); err != nil {
			t.Fatal(err)
		}
	}
	if err := as.Save(young, merge.Decision{Answer: merge.Ours}, ""); err != nil {
		t.Fatal(err)
	}
	if err := as.Expire(); err != nil {
		t.Fatal(err)
	}
	if _, _, has, err := as.Find(young, ""); !has || err != nil {
		t.Errorf("the young one is gone: %v", err)
	}
	if _, _, has, err := as.Find(old, ""); has || err != nil {
		t.Errorf("the old one is there: %v", err)
	}
}

func TestAnswersDamaged(t *testing.T) {
	dir := t.TempDir()
	as := merge.Answers{Dir: dir, Now: time.Now}
	c := threeway.Conflict{Turn: "1/1"}
	if err := as.Save(c, merge.Decision{Answer: merge.Ours}, ""); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "answers", "*.json"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%d answers, %v", len(names), err)
	}
	for _, text := range []string{"{", `{"answer":"edited","turn":"e30="}`} {
		if err := os.WriteFile(names[0], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, has, err := as.Find(c, ""); has || err == nil {
			t.Errorf("%s: found %v, %v", text, has, err)
		}
	}
	// An answer that only a later version gives is none: the question is asked again.
	later := []byte(`{"answer":"later","turn":"e30="}`)
	if err := os.WriteFile(names[0], later, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, has, err := as.Find(c, ""); has || err != nil {
		t.Errorf("a later version's answer: found %v, %v", has, err)
	}
	if _, err := (merge.Decision{Answer: "else"}).Apply(events.New(), c); err == nil {
		t.Error("an unknown answer was applied")
	}
}
