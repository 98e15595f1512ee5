package stage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/git-jp/git-jp/internal/stage"
)

func run(t *testing.T, req stage.Request) stage.Result {
	t.Helper()
	res, err := stage.Run(t.Context(), req)
	if refused, ok := errors.AsType[*stage.RefusedError](err); ok {
		for _, f := range refused.Report.Findings {
			t.Logf("%+v", f)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func ourFiles(dir string) []string {
	return []string{dir + "/base_config.json", dir + "/events.json", dir + "/metadata.json"}
}

func (f fixture) assertIndex(t *testing.T, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := f.index(); !slices.Equal(got, want) {
		t.Errorf("index has %q, want %q", got, want)
	}
}

func TestStageTakesTheClosure(t *testing.T) {
	f := newFixture(t)
	dir := f.converse(firstID, "first", "one", "two", "one")
	f.converse(secondID, "second", "three")
	f.WriteFile("code.go", "package code // changed\n")
	f.WriteFile(dir+"/QUERY_MESSAGE.md", "draft")
	f.WriteFile(dir+"/events.json.tmp", "half")
	f.WriteFile(dir+"/notes/mine.md", "mine")
	f.WriteFile(dir+"/secret.env", "ignored")
	f.WriteFile(".git/info/exclude", "*.env\n")

	req := f.request(firstID)
	plan, err := stage.NewPlan(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.index(); !slices.Equal(got, []string{""}) {
		t.Fatalf("a plan staged %q", got)
	}
	res := run(t, req)
	want := append(ourFiles(dir), dir+"/notes/mine.md", f.blobPath("one"), f.blobPath("two"))
	f.assertIndex(t, want...)
	if !slices.Equal(plan.Add, res.Added) || !slices.Equal(plan.Add, f.index()) {
		t.Errorf("planned %q, reported %q", plan.Add, res.Added)
	}
	if i := plan.Items; len(i) != 1 || i[0].Title != "first" || i[0].Blobs != 2 ||
		i[0].Bytes != 6 || !i[0].New {
		t.Errorf("items %+v", i)
	}
	f.Run("commit", "-q", "-m", "x")
	if got := f.Run("status", "--porcelain", dir); !strings.HasPrefix(got, "?? ") {
		t.Errorf("status %q", got)
	}
	if res := run(t, req); len(res.Added)+len(res.Removed)+len(res.Plan.Items) != 0 {
		t.Errorf("again: %+v", res)
	}
	f.converse(firstID, "first", "one", "three")
	if i := run(t, req).Plan.Items; len(i) != 1 || i[0].New || i[0].Blobs != 1 {
		t.Errorf("changed: %+v", i)
	}
}

// TestStageTakesTheOwnFiles verifies that a clone of what was staged has a name for the workspace,
// and the attributes without which it merges by lines.
func TestStageTakesTheOwnFiles(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(f fixture, own string)
		taken bool
	}{
		{"new", func(fixture, string) {}, true},
		{"ignored", func(f fixture, _ string) { f.WriteFile(".git/info/exclude", ".jp\n") }, true},
		{"tracked", func(f fixture, own string) { f.Run("add", own) }, false},
		{"unmerged", func(f fixture, own string) {
			oid := f.RunInput("other\n", "hash-object", "-w", "--stdin")
			f.RunInput("100644 "+oid+" 2\t"+own+"\n100644 "+oid+" 3\t"+own+"\n",
				"update-index", "--index-info")
		}, false},
		{"none", func(f fixture, own string) { f.Remove(own) }, false},
		{"directory", func(f fixture, own string) { f.Remove(own); f.WriteFile(own+"/x", "") }, false},
	} {
		for _, own := range []string{".jp/.id", ".jp/.gitattributes", ".jp/.gitignore"} {
			t.Run(tt.name+own, func(t *testing.T) {
				f := newFixture(t)
				f.WriteFile(own, "abcde\n")
				f.Run("rm", "-q", "--cached", "--ignore-unmatch", own)
				f.Run("commit", "-q", "--allow-empty", "-m", "without")
				tt.spoil(f, own)
				f.converse(firstID, "first", "one")
				before := f.Run("ls-files", "--stage", own)
				res := run(t, f.request(firstID))
				planned := slices.Contains(res.Plan.Own, own)
				if added := slices.Contains(res.Added, own); planned != tt.taken || added != tt.taken {
					t.Errorf("planned %q, added %q", res.Plan.Own, res.Added)
				}
				if after := f.Run("ls-files", "--stage", own); (before != after) != tt.taken {
					t.Errorf("the index had %q, has %q", before, after)
				}
				f.Run("rm", "-q", "--cached", "--ignore-unmatch", "-r", own)
				if res := run(t, f.request(firstID)); len(res.Added) > 0 {
					t.Errorf("staged without a conversation: %q", res.Added)
				}
			})
		}
	}
}

// A plan that is only shown finds missing content, and reads no content.
func TestPlanWithoutContent(t *testing.T) {
	f := newFixture(t)
	f.converse(firstID, "first", "one", "two")
	f.WriteFile(f.blobPath("one"), "damaged")
	req := f.request(firstID)
	req.NoContent = true
	plan, err := stage.NewPlan(t.Context(), req)
	if err != nil || plan.Refused() || plan.Items[0].Blobs != 2 {
		t.Errorf("%+v, %v", plan, err)
	}
	if _, err := plan.Apply(t.Context()); err == nil {
		t.Error("damaged content was staged")
	}
	f.Remove(f.blobPath("two"))
	if plan, err = stage.NewPlan(t.Context(), req); err != nil || !plan.Refused() {
		t.Errorf("%+v, %v", plan, err)
	}
}

func TestStageOfIgnoredWorkspace(t *testing.T) {
	f := newFixture(t)
	f.WriteFile(".gitignore", ".jp\n")
	dir := f.converse(firstID, "first", "one")
	f.WriteFile(dir+"/mine.md", "mine")
	run(t, f.request(firstID))
	f.assertIndex(t, append(ourFiles(dir), f.blobPath("one"))...)
}

func TestStageInASubdirectory(t *testing.T) {
	f := newFixture(t)
	f.dir = "sub/pro ject/.jp"
	dir := f.converse(firstID, "first", "one")
	run(t, f.request(firstID))
	f.assertIndex(t, append(ourFiles(dir), f.blobPath("one"))...)
}

// TestStageRefuses checks that nothing is staged for any fault, and that the finding names the
// place.
func TestStageRefuses(t *testing.T) {
	tests := map[string]struct {
		spoil func(f fixture, dir string)
		state check.State
		call  string
	}{
		"missing": {
			func(f fixture, _ string) { f.Remove(f.blobPath("two")) }, check.Missing, "call1",
		},
		"corrupt": {
			func(f fixture, _ string) {
				f.WriteFile(f.blobPath("two"), string(blobs.Encode([]byte("other"))))
			}, check.Corrupt, "call1",
		},
		"pointer that says nothing": {
			func(f fixture, _ string) {
				f.WriteFile(f.blobPath("two"), strings.Replace(pointer, "sha256", "sha257", 1))
			}, check.Corrupt, "call1",
		},
		"oversize": {
			func(f fixture, _ string) { f.converse(firstID, "first", "x", strings.Repeat("x", 99)) },
			check.Oversize, "call1",
		},
		"malformed": {
			func(f fixture, dir string) { f.WriteFile(dir+"/events.json", "[{]") },
			check.Malformed, "",
		},
		"duplicate": {
			func(f fixture, _ string) { f.converse(firstID, "again") }, check.DuplicateID, "",
		},
		"filter": {
			func(f fixture, _ string) {
				f.WriteFile("pointer", pointer)
				f.Run("config", "filter.lfs.clean", "cat >/dev/null; cat pointer")
				f.WriteFile(".gitattributes", "*.gz filter=lfs\n")
			}, check.LFSPointer, "",
		},
		"line endings": {
			func(f fixture, _ string) {
				f.converse(firstID, "first", crlfContent())
				f.WriteFile(".gitattributes", "*.gz text eol=lf\n")
			}, check.Corrupt, "",
		},
		"unmerged": {
			func(f fixture, dir string) {
				id := f.RunInput("x", "hash-object", "-w", "--stdin")
				f.RunInput(fmt.Sprintf("100644 %s 1\t%s\n100644 %[1]s 2\t%[2]s\n", id,
					dir+"/events.json"), "update-index", "--index-info")
			}, check.Conflicted, "",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			dir := f.converse(firstID, "first", "one", "two")
			tt.spoil(f, dir)
			before := f.Run("ls-files", "-s")
			req := f.request(firstID)
			req.MaxBlobBytes = 60
			if name == "line endings" {
				req.MaxBlobBytes = 0
			}
			_, err := stage.Run(t.Context(), req)
			refused := new(stage.RefusedError)
			if !errors.As(err, &refused) {
				t.Fatalf("got %v", err)
			}
			found := slices.ContainsFunc(refused.Report.Findings, func(f check.Finding) bool {
				return f.State == tt.state && f.Call == tt.call && (f.Next != "" || f.State == check.Oversize ||
					name == "pointer that says nothing")
			})
			if !found {
				t.Errorf("findings %+v", refused.Report.Findings)
			}
			if after := f.Run("ls-files", "-s"); after != before {
				t.Errorf("index changed to %q", after)
			}
		})
	}
}

const pointer = "version https://git-lfs.github.com/spec/v1\n" +
	"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

// crlfContent is content whose blob has a line end of Windows in it.
func crlfContent() string {
	for i := range 1 << 20 {
		c := fmt.Sprint("content ", i, strings.Repeat(" and more", i%40))
		if strings.Contains(string(blobs.Encode([]byte(c))), "\r\n") {
			return c
		}
	}
	return ""
}

func TestStageWarns(t *testing.T) {
	f := newFixture(t)
	dir := f.converse(firstID, "first", "one")
	text := f.ReadFile(dir + "/events.json")
	f.WriteFile(dir+"/events.json", text[:strings.LastIndex(text, ",\n")]+`,
		{"timestamp": "2026-04-10 17:04:20.531233", "type": "tool_call_request", "id": "open",
		"name": "read", "arguments": {}}]`)
	req := f.request(firstID)
	req.Locked = func(events.ID) error { return errors.New("process 7 is writing") }
	req.Strict = true
	var refused *stage.RefusedError
	if _, err := stage.Run(t.Context(), req); !errors.As(err, &refused) {
		t.Fatalf("strict: %v", err)
	}
	req.Strict = false
	res := run(t, req)
	var details []string
	for _, f := range res.Plan.Report.Findings {
		if f.State != check.Incomplete || f.Severity != check.Warning {
			t.Errorf("finding %+v", f)
		}
		details = append(details, f.Call+f.Detail)
	}
	slices.Sort(details)
	if len(details) != 2 || !strings.HasPrefix(details[0], "open") ||
		details[1] != "process 7 is writing" {
		t.Errorf("warnings %q", details)
	}
}

// TestStageRemovesWhatIsGone checks that a moved or removed conversation leaves the index by its
// id. Blobs stay for the collector.
func TestStageRemovesWhatIsGone(t *testing.T) {
	moves := map[string]struct {
		move func(f fixture, dir string)
		dir  string
	}{
		"renamed": {
			func(f fixture, dir string) { rename(f, dir, ".jp/conversations/17758406187-new") },
			".jp/conversations/17758406187-new",
		},
		"archived": {
			func(f fixture, dir string) {
				rename(f, dir, ".jp/conversations/.archive/17758406187-first")
			},
			".jp/conversations/.archive/17758406187-first",
		},
		"removed":  {func(f fixture, dir string) { f.Remove(dir) }, ""},
		"the last": {func(f fixture, _ string) { f.Remove(".jp/conversations") }, ""},
	}
	for name, tt := range moves {
		for _, selection := range []stage.Selection{stage.Named, stage.Changed, stage.All} {
			t.Run(fmt.Sprint(name, " ", selection), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				dir := f.converse(firstID, "first", "one")
				f.WriteFile(dir+"/mine.md", "mine")
				f.Commit("conversation")
				tt.move(f, dir)
				req := f.request(firstID)
				req.Select = selection
				res := run(t, req)
				if len(res.Removed) != 4 || len(res.Plan.Items) != 1 {
					t.Errorf("removed %q", res.Removed)
				}
				want := []string{f.blobPath("one")}
				if tt.dir != "" {
					want = append(append(want, ourFiles(tt.dir)...), tt.dir+"/mine.md")
				}
				f.assertIndex(t, want...)
			})
		}
	}
}

func rename(f fixture, from, to string) {
	f.tb.Helper()
	if err := os.MkdirAll(filepath.Dir(f.Path(to)), 0o755); err != nil {
		f.tb.Fatal(err)
	}
	if err := os.Rename(f.Path(from), f.Path(to)); err != nil {
		f.tb.Fatal(err)
	}
}

// A sparse checkout shows nothing of .jp; that is no removal.
func TestStageInASparseCheckout(t *testing.T) {
	for _, how := range [][]string{
		{"--cone", "code"}, {"--cone", "--sparse-index", "code"}, {"--no-cone", "/code.go"},
	} {
		t.Run(strings.Join(how, " "), func(t *testing.T) {
			f := newFixture(t)
			f.WriteFile("code/x", "")
			first := f.converse(firstID, "first", "one")
			f.Commit("conversation")
			f.Run(append([]string{"sparse-checkout", "set"}, how...)...)
			if _, err := os.Stat(f.Path(first)); err == nil {
				t.Fatal("the checkout is not sparse")
			}
			second := f.converse(secondID, "second", "two")
			req := f.request()
			req.Select = stage.All
			if res := run(t, req); len(res.Removed) > 0 {
				t.Errorf("removed %q", res.Removed)
			}
			f.assertIndex(t, append(append(ourFiles(first), ourFiles(second)...),
				f.blobPath("one"), f.blobPath("two"))...)
		})
	}
}

func TestStageChanged(t *testing.T) {
	f := newFixture(t)
	f.converse(firstID, "first", "one")
	f.Commit("conversation")
	changed := func(want ...events.ID) {
		t.Helper()
		req := f.request()
		req.Select = stage.Changed
		plan, err := stage.NewPlan(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		var got []events.ID
		for _, item := range plan.Items {
			got = append(got, item.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("changed %v, want %v", got, want)
		}
	}
	changed()
	f.converse(secondID, "second", "two")
	changed(secondID)
	f.Run("add", ".jp/conversations")
	changed(secondID) // its blob is not staged yet
	f.Run("add", ".jp/blobs")
	changed()
	f.converse(firstID, "first", "one", "two")
	changed(firstID)
	f.Run("rm", "-q", "--cached", f.blobPath("two"))
	changed(firstID) // which also stages what the second one needs
}

func TestStageOfAnUnknownConversation(t *testing.T) {
	f := newFixture(t)
	if _, err := stage.Run(t.Context(), f.request(firstID)); !errors.Is(err, stage.ErrNoConversation) {
		t.Errorf("got %v", err)
	}
}

// The new content of a stream that grows between reading and staging is staged too.
func TestStageOfAGrowingConversation(t *testing.T) {
	f := newFixture(t)
	dir := f.converse(firstID, "first", "one")
	req := f.request(firstID)
	grown := 0
	req.Locked = func(events.ID) error {
		if grown++; grown < 3 {
			f.converse(firstID, "first", []string{"one", "t", "w"}[:grown+1]...)
		}
		return nil
	}
	run(t, req)
	if grown != 3 {
		t.Errorf("planned %d times", grown)
	}
	f.assertIndex(t, append(ourFiles(dir), f.blobPath("one"), f.blobPath("t"), f.blobPath("w"))...)
	if v, _ := f.preCommit(t); v.Blocked() {
		t.Errorf("%+v", v)
	}
}

// An entry that a mark tells git not to look at is staged anyway.
func TestStageOfMarkedEntries(t *testing.T) {
	for _, mark := range []string{"--skip-worktree", "--assume-unchanged"} {
		f := newFixture(t)
		dir := f.converse(firstID, "first", "one")
		f.Commit("conversation")
		f.Run("update-index", mark, dir+"/events.json")
		f.converse(firstID, "first", "two")
		run(t, f.request(firstID))
		if got := f.Run("show", ":"+dir+"/events.json"); got+"\n" != f.ReadFile(dir+"/events.json") {
			t.Errorf("%s: index has the old stream", mark)
		}
		f.assertIndex(t, append(ourFiles(dir), f.blobPath("one"), f.blobPath("two"))...)
	}
}

// A blob of which the index has another object is staged, whatever git was told about it.
func TestStageOfOtherBlobs(t *testing.T) {
	for _, mark := range []string{"--no-assume-unchanged", "--assume-unchanged", "--skip-worktree"} {
		f := newFixture(t)
		f.converse(firstID, "first", "one")
		f.Commit("conversation")
		blob := f.blobPath("one")
		good := f.Run("rev-parse", ":"+blob)
		f.WriteFile("other", "damaged")
		f.Run("update-index", "--cacheinfo", "100644,"+f.Run("hash-object", "-w", "other")+","+blob)
		f.Run("update-index", mark, blob)
		if res := run(t, f.request(firstID)); !slices.Contains(res.Added, blob) {
			t.Errorf("%s: staged %q, want the blob", mark, res.Added)
		}
		if got := f.Run("rev-parse", ":"+blob); got != good {
			t.Errorf("%s: the index has %s, want %s", mark, got, good)
		}
	}
}

func TestUnstage(t *testing.T) {
	f := newFixture(t)
	first := f.converse(firstID, "first", "one")
	f.Commit("conversation")
	f.converse(firstID, "first", "one", "two", "shared")
	second := f.converse(secondID, "second", "shared", "three")
	req := f.request()
	req.Select = stage.All
	run(t, req)
	got, err := stage.Unstage(t.Context(), f.request(firstID))
	want := []string{f.blobPath("two"), first + "/events.json"}
	if slices.Sort(want); err != nil || !slices.Equal(got, want) {
		t.Errorf("unstaged %q, %v, want %q", got, err, want)
	}
	f.assertIndex(t, append(append(ourFiles(first), ourFiles(second)...),
		f.blobPath("one"), f.blobPath("three"), f.blobPath("shared"))...)
	if _, err := stage.Unstage(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got := f.Run("diff", "--cached", "--name-only"); got != "" {
		t.Errorf("still staged: %q", got)
	}
	if _, err := stage.Unstage(t.Context(), f.request(1)); !errors.Is(err, stage.ErrNoConversation) {
		t.Errorf("got %v", err)
	}
}

func TestStageOfRealConversations(t *testing.T) {
	data := realdata.Dir(t, "conversations")
	f := newFixture(t)
	if err := os.CopyFS(f.Path(".jp/conversations"), os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	req := f.request()
	req.Select = stage.All
	if res := run(t, req); len(res.Plan.Items) < 5 {
		t.Errorf("%d conversations", len(res.Plan.Items))
	}
	if got := f.Run("status", "--porcelain", "-uall", ".jp/conversations"); len(got) == 0 ||
		strings.Contains("\n"+got, "\n?") {
		t.Errorf("status %q", got)
	}
}

func BenchmarkStage1000Blobs(b *testing.B) {
	f := newFixture(b)
	contents := make([]string, 1000)
	for i := range contents {
		contents[i] = strings.Repeat(fmt.Sprint(i, " "), 1000)
	}
	f.converse(firstID, "first", contents...)
	empty := func(b *testing.B) {
		b.StopTimer()
		f.Run("reset", "-q")
		f.Run("prune")
		b.StartTimer()
	}
	b.Run("stage", func(b *testing.B) {
		for range b.N {
			empty(b)
			if _, err := stage.Run(context.Background(), f.request(firstID)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("git add", func(b *testing.B) {
		for range b.N {
			empty(b)
			f.Run("add", ".jp")
		}
	})
}
