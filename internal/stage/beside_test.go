package stage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/stage"
)

// redact writes a redaction entry of a conversation, and returns its path.
func (f fixture) redact(id events.ID, event string) string {
	r := secrets.Redaction{
		Conversation: id.Digits(), Event: event, Member: "/content",
		Ranges: []secrets.Range{{From: 1, To: 9, Rule: "text", Check: "ab"}},
	}
	f.WriteFile(f.dir+"/"+r.Name(), string(r.Encode()))
	return f.dir + "/" + r.Name()
}

// allow writes an allowed finding of a conversation, and returns its path.
func (f fixture) allow(id events.ID, event string) string {
	a := secrets.NewFinding("npm-token", id, event, 1, []byte("x"))
	f.WriteFile(f.dir+"/"+a.Name(), string(a.Encode()))
	return f.dir + "/" + a.Name()
}

// TestEntriesAreReadOnce counts the files about secrets that a stage, an unstage and a commit of
// one conversation read, of those that belong to others: each redaction entry once, as an event may
// be in several conversations, and no allowed finding.
func TestEntriesAreReadOnce(t *testing.T) {
	f := newFixture(t)
	dir := f.converse(firstID, "first", "one")
	const n = 40
	for i := range n {
		f.redact(secondID, fmt.Sprint(i))
		f.allow(secondID, fmt.Sprint(i))
	}
	f.Commit("base")
	f.WriteFile(dir+"/events.json",
		strings.Replace(f.ReadFile(dir+"/events.json"), "done", "done again", 1))

	req := f.request(firstID)
	for range 2 { // the second stage of a command reads nothing again
		if req.Secrets.Memo == nil {
			req.Secrets.Memo = leaks.NewMemo()
		}
		run(t, req)
		if got := req.Secrets.Memo.Reads(); got != n {
			t.Errorf("a stage read %d files, want %d", got, n)
		}
	}
	memo := leaks.NewMemo()
	hook := stage.Hook{Repo: req.Repo, Secrets: func() leaks.Options {
		return leaks.Options{Memo: memo}
	}}
	if _, err := hook.PreCommit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := memo.Reads(); got != n {
		t.Errorf("a commit read %d objects, want %d", got, n)
	}
	req.Secrets.Memo = leaks.NewMemo()
	if changed, err := stage.Unstage(t.Context(), req); err != nil || len(changed) != 1 {
		t.Fatalf("unstaged %q, %v", changed, err)
	}
	if got := req.Secrets.Memo.Reads(); got != 0 {
		t.Errorf("an unstage read %d objects, want none", got)
	}
}

// TestDamagedEntriesBelongToNone tests that only files whose name fits what they say are staged
// with a conversation.
func TestDamagedEntriesBelongToNone(t *testing.T) {
	f := newFixture(t)
	f.converse(firstID, "first", "one")
	other := f.redact(firstID, "of another text")
	digits := firstID.Digits()
	damaged := []string{
		f.dir + "/secrets/redacted/" + digits + "-" + strings.Repeat("0", 32) + ".json",
		f.dir + "/secrets/redacted/" + digits + "-notes.txt",
		f.dir + "/secrets/allowed/" + strings.Repeat("0", 32) + ".json",
		f.dir + "/sessions/removed/" + digits + ".json",
	}
	for _, name := range damaged {
		f.WriteFile(name, f.ReadFile(other))
	}
	want := []string{other, f.redact(firstID, "x"), f.allow(firstID, "x")}
	slices.Sort(want)
	plan, err := stage.NewPlan(t.Context(), f.request(firstID))
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(slices.Values(plan.Items[0].Beside))
	if !slices.Equal(got, want) {
		t.Errorf("beside it are %q, want %q", got, want)
	}
	var named []string
	for _, f := range plan.Report.Findings {
		if f.State == check.Foreign {
			named = append(named, f.Path)
		}
	}
	slices.Sort(named)
	if !slices.Equal(named, slices.Sorted(slices.Values(damaged[:3]))) {
		t.Errorf("findings name %q", named)
	}

	// The hook neither adds nor misses them.
	run(t, f.request(firstID))
	f.Run("rm", "-q", "-r", "--cached", f.dir+"/secrets")
	v, err := stage.Hook{Repo: openRepo(t, f.Repository)}.PreCommit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	warns := func(f check.Finding) bool { return f.Severity != check.Note }
	if slices.Sort(v.Joined); !slices.Equal(v.Joined, want) ||
		slices.ContainsFunc(v.Others, warns) {
		t.Errorf("the hook added %q, and found %+v", v.Joined, v.Others)
	}
}
