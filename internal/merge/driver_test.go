package merge_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/regular"
)

// bothWentOn returns the call for a conversation that both sides continued, outside of a
// repository, and the content of ours.
func bothWentOn(t *testing.T) (c merge.Call, ours string) {
	t.Helper()
	dir := t.TempDir()
	turn := func(n int) string {
		const head = `{"timestamp":"2026-05-29 19:42:3%d.0","type":`
		return fmt.Sprintf(head+`"turn_start"},`+head+`"chat_request","content":"%d%s"}`,
			n, n, n, strings.Repeat("x", 1000))
	}
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ours = "[" + turn(1) + "," + turn(2) + "]"
	return merge.Call{
		Kind: merge.Events, Path: ".jp/conversations/17000000001-one/events.json", MarkerSize: 7,
		Base: file("base", "["+turn(1)+"]"), Ours: file("ours", ours),
		Theirs: file("theirs", "["+turn(1)+","+turn(3)+"]"),
		Repo:   func() (*gitint.Repo, error) { return nil, errors.New("no repository") },
		Now:    time.Now, Limits: regular.Limits{Stream: 10_000},
	}, ours
}

// TestAResultThatIsTooLarge checks that two readable sides are not merged into a file that cannot
// be read. The file of ours stays.
func TestAResultThatIsTooLarge(t *testing.T) {
	c, ours := bothWentOn(t)
	c.Limits.Stream = 3000
	_, err := c.Run(t.Context())
	if over := new(regular.SizeError); !errors.As(err, &over) || over.Max != 3000 {
		t.Errorf("error is %v", err)
	}
	if data, err := os.ReadFile(c.Ours); err != nil || string(data) != ours {
		t.Errorf("ours is %.100q (%v)", data, err)
	}
	c.Limits.Stream = 10_000
	if m, err := c.Run(t.Context()); err != nil || len(m.Data) < 3000 {
		t.Errorf("within the limit: %v", err)
	}
}

// TestWritingIsAnnounced checks that nothing is written before Writing is called, so that a signal
// may end the merge at any point.
func TestWritingIsAnnounced(t *testing.T) {
	c, ours := bothWentOn(t)
	announced := 0
	c.Writing = func() {
		announced++
		files, err := os.ReadDir(filepath.Dir(c.Ours))
		data, unread := os.ReadFile(c.Ours)
		if err := errors.Join(err, unread); err != nil || len(files) != 3 || string(data) != ours {
			t.Errorf("before, there are %d files, ours is %.100q (%v)", len(files), data, err)
		}
	}
	if _, err := c.Run(t.Context()); err != nil || announced != 1 {
		t.Errorf("writing was announced %d times (%v), want once", announced, err)
	}
}
