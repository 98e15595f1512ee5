//go:build linux

package faults_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/scripts"
)

// removing deletes an imported conversation whose session is still there.
var removing = faultCommand{
	name: "remove",
	before: []string{
		agentSessions, "git jp import -q --yes --foreign .git/sessions/1.jsonl && git add .jp && git commit -q -m in",
	},
}

// TestRemovedStaysRemoved: wherever the process ends or a call fails, a removed conversation is
// still there or the note of its removal is. Without both the next import would make it again.
func TestRemovedStaysRemoved(t *testing.T) {
	b := newFaultBench(t)
	c := removing
	of := faultTemplate{dir: b.world(c)}
	c.args = []string{"rm", "-q", "--yes", b.imported(of.dir)}
	all := faultCalls[:3] // those that move and remove: what is in a file counts once it has its name
	if scripts.Soaks() {
		all = faultCalls
	}
	for i, calls := range all {
		name, _, _ := strings.Cut(strings.TrimPrefix(calls, "?"), ",")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, points := b.on(t), 0
			for _, fault := range []string{"error=EIO", "signal=SIGKILL"} {
				for n, missed := 1, 0; n <= mostCalls && missed < misses; n++ {
					met, err := b.remove(c, of, faultPoint{calls, fault, n})
					if err != nil {
						t.Errorf("%s, %s number %d: %v", fault, calls, n, err)
					}
					missed++
					if met {
						missed, points = 0, points+1
					}
				}
			}
			if t.Logf("%d points", points); points == 0 && i < 3 {
				t.Error("no call was reached")
			}
		})
	}
}

// imported returns the id of the only imported conversation, or "".
func (b *faultBench) imported(dir string) string {
	list, err := b.run(dir, "git-jp", "ls", "--agents", "-q", "--json")
	if err != nil {
		b.t.Fatalf("ls: %v\n%s", err, list)
	}
	_, id, _ := strings.Cut(list, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}

// remove interrupts a removal once, and returns what is wrong afterwards.
func (b *faultBench) remove(c faultCommand, of faultTemplate, p faultPoint) (met bool, err error) {
	dir, remove, err := b.copy(of)
	if err != nil {
		return false, err
	}
	defer remove()
	if met, err = b.inject(dir, c, p); !met || err != nil {
		return met, err
	}
	id := b.imported(dir)
	bring := []string{"import", "-q", "--yes", "--foreign", ".git/sessions/1.jsonl"}
	if out, err := b.run(dir, "git-jp", bring...); err != nil {
		return true, fmt.Errorf("then import: %w\n%s", err, out)
	}
	if now := b.imported(dir); now != id {
		return true, fmt.Errorf("the conversation was %q, and an import made it %q", id, now)
	}
	if id != "" {
		if out, err := b.run(dir, "git-jp", c.args...); err != nil {
			return true, fmt.Errorf("then again: %w\n%s", err, out)
		}
	}
	notes, err := filepath.Glob(filepath.Join(dir, ".jp", "sessions", "removed", "*.json"))
	if now := b.imported(dir); err == nil && (now != "" || len(notes) != 1) {
		err = fmt.Errorf("then again: %q is there, with the notes %q", now, notes)
	}
	return true, err
}
