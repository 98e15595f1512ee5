package mutants

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

// A seededBug is a plausible fault in the collector, and the tests that find it.
type seededBug struct {
	name, file string
	was, is    string // the original text, and the one with the fault
	tests      string // a pattern of the tests that fail with it
}

var seededBugs = []seededBug{
	// The mark.
	{
		name: "tags of tags are not followed", file: "marker.go",
		was:   `for kind == "tag" {`,
		is:    `if kind == "tag" {`,
		tests: "^TestRootMatrix$/^tag_of_a_tag$",
	},
	{
		name: "only files of tips with two hashes count", file: "marker.go",
		was:   "if len(all) > 0 {\n\t\t\tfound :=",
		is:    "if len(all) > 1 {\n\t\t\tfound :=",
		tests: "^TestRootMatrix$/^mail",
	},
	{
		name: "the index of a stash is not looked at", file: "marker.go",
		was:   `if n > 0 {`,
		is:    `if n > 1 {`,
		tests: "^TestRootMatrix$/^index_of_a_stash",
	},
	{
		name: "what may be a hash does not count", file: "marker.go",
		was:   "for _, n := range found.loose {\n\t\t\tm.wanted",
		is:    "for _, n := range found.loose[:0] {\n\t\t\tm.wanted",
		tests: "^TestRootMatrix$/^copy_beside",
	},
	{
		name: "other sides of a conflict are left out", file: "indexes.go",
		was:   `for _, e := range x.Stages() {`,
		is:    `for _, e := range x.Stages()[:0] {`,
		tests: "^TestRootMatrix$/^index,_stage_3$",
	},
	{
		name: "one index is enough", file: "indexes.go",
		was:   `range m.roots.Worktrees {`,
		is:    `range m.roots.Worktrees[:1] {`,
		tests: "^TestRootMatrix$/^index_of_another$",
	},
	{
		name: "workspaces below are not read", file: "workspaces.go",
		was:   `for _, dir := range found {`,
		is:    `for _, dir := range found[:0] {`,
		tests: "^TestRootMatrix$/^workspace_below$",
	},
	{
		name: "user-local copies are not read", file: "workspaces.go",
		was:   "for _, dir := range dirs {\n\t\tif err := ws.readLoosely",
		is:    "for _, dir := range dirs[:0] {\n\t\tif err := ws.readLoosely",
		tests: "^TestRootMatrix$/^user-local_copy",
	},
	{
		name: "a file that cannot be read is passed over", file: "disk.go",
		was:   "case err != nil:\n\t\td.obstruct(ReasonFiles, name, regular.Cause(err).Error())\n\t\treturn",
		is:    "case err != nil:\n\t\treturn",
		tests: "^TestUnreadableFiles$",
	},
	{
		name: "what was gone for a moment is gone", file: "disk.go",
		was:   `return !d.moved && slices.Equal(before, after), err`,
		is:    `return slices.Equal(before, after), err`,
		tests: "^TestUnreadableFiles$",
	},
	{
		name: "the beginning of a file is all of it", file: "disk.go",
		was:   `info.Size() != int64(n)`,
		is:    `info.Size() < int64(n)`,
		tests: "^TestShortRead$",
	},
	{
		name: "any journal makes a run", file: "quarantined.go",
		was:   `h.known() && h.Run == path.Base(dir)`,
		is:    `h.known() && h.Run != ""`,
		tests: "^TestRootMatrix$/^quarantined,_beside",
	},
	// History.
	{
		name: "a commit without a store asks for nothing", file: "history.go",
		was:   "if id.IsZero() {\n\t\t\tv.needed = true",
		is:    "if id.IsZero() {\n\t\t\tv.needed = false",
		tests: "^TestRootMatrix$/^(reflog|older)",
	},
	{
		name: "equal conversations have equal stores", file: "history.go",
		was:   `k := key{p.Conversations, p.Blobs}`,
		is:    `k := key{p.Conversations, ""}`,
		tests: "^TestRootMatrix$/^commit_before",
	},
	{
		name: "a pointer carries content", file: "history.go",
		was:   `err != nil || !blobs.IsFileOf(data, h.references.hashes.all[n]) {`,
		is:    `err != nil {`,
		tests: "^TestRootMatrix$/^carried_by_a_pointer",
	},
	{
		name: "one reference is too few", file: "history.go",
		was:   "if h.refers[n] <= 0 {\n\t\t\tcontinue",
		is:    "if h.refers[n] <= 1 {\n\t\t\tcontinue",
		tests: "^TestRootMatrix$/^(reflog|older)",
	},
	// The plan and the sweep.
	{
		name: "a lock protects the others", file: "plan.go",
		was:   `case held && !item.Tracked:`,
		is:    `case held && item.Tracked:`,
		tests: "^TestHeldConversation$",
	},
	{
		name: "a blob that was stamped is moved", file: "sweep.go",
		was:   `fresh := err == nil && (!info.ModTime().Equal(i.ModTime) || info.Size()`,
		is:    `fresh := err == nil && (info.Size()`,
		tests: "^TestWriterBetweenTheMarks$",
	},
	{
		name: "what is wanted again stays away", file: "sweep.go",
		was:   "if !wanted[i.Hash] {",
		is:    "if !wanted[i.Hash] || s.plan != nil {",
		tests: "^TestWriterBetweenTheMarks$",
	},
	{
		name: "what is to be erased is not asked about again", file: "sweep.go",
		was:   "if wanted[h] {\n\t\t\t\ts.plan",
		is:    "if !wanted[h] {\n\t\t\t\ts.plan",
		tests: "^TestExpiredRuns$",
	},
	{
		name: "nobody looks whether the index moved on", file: "sweep.go",
		was:   `err == nil && now != s.staged`,
		is:    `err == nil && now == ""`,
		tests: "^TestTheIndexMovesOn$",
	},
	{
		name: "an error leaves what was moved where it is", file: "sweep.go",
		was:   "err := s.run.rollBack()\n",
		is:    "err := error(nil)\n",
		tests: "^TestCancelledDeletesNothing$",
	},
}

// TestSeededBugs puts one fault at a time into the collector, and checks that the tests find it. A
// short run tries a sample.
func TestSeededBugs(t *testing.T) {
	const sample = 9
	all := sources(t)
	for i, bug := range seededBugs {
		mutated := bug.seed(t, all[bug.file])
		if i%sample > 0 && os.Getenv("GIT_JP_SOAK") == "" {
			continue
		}
		t.Run(bug.name, func(t *testing.T) {
			out, err := bug.test(t, mutated)
			switch {
			case bytes.Contains(out, []byte("[build failed]")):
				t.Fatalf("the fault does not compile:\n%s", out)
			case err == nil:
				t.Errorf("the tests do not find it:\n%s", out)
			case !bytes.Contains(out, []byte("--- FAIL")):
				t.Errorf("no test has failed: %v\n%s", err, out)
			}
		})
	}
}

// seed returns the file with the fault in it.
func (b seededBug) seed(t *testing.T, text string) string {
	t.Helper()
	if n := strings.Count(text, b.was); n != 1 {
		t.Errorf("%s: %s has %d times the place of the fault, want one", b.name, b.file, n)
	}
	return strings.Replace(text, b.was, b.is, 1)
}

// test runs the tests that find the fault, with the mutated file in place of the original.
func (b seededBug) test(t *testing.T, mutated string) ([]byte, error) {
	t.Helper()
	args := append([]string{
		"test", "-vet=off", "-count=1", "-run=" + b.tests,
		gittest.Overlay(t, collector, map[string]string{b.file: mutated}),
	}, append(gittest.BuildFlags(), collector)...)
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return out, err
}
