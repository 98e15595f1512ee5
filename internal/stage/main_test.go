package stage_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/stage"
)

// hookEnv makes the test binary act as the hook that it names.
const hookEnv = "GIT_JP_TEST_HOOK"

func TestMain(m *testing.M) {
	if name := os.Getenv(hookEnv); name != "" {
		if err := actAsHook(name); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func actAsHook(name string) error {
	ctx := context.Background()
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	repo, err := gitint.Open(ctx, gitint.Options{Dir: dir, Env: os.Environ()})
	if err != nil {
		return err
	}
	defer repo.Close()
	hook := stage.Hook{Repo: repo}
	if name == "post-commit" {
		return hook.PostCommit(ctx)
	}
	v, err := hook.PreCommit(ctx)
	if err != nil {
		return err
	}
	if v.AddError != nil {
		fmt.Fprintln(os.Stderr, "add:", v.AddError)
	}
	for _, f := range v.Blocking {
		fmt.Fprintln(os.Stderr, "finding:", f.State, f.Path, f.Call, f.Detail, f.Next)
	}
	if v.Blocked() {
		return fmt.Errorf("blocked")
	}
	return nil
}

// installHooks makes the test binary the hooks of a repository.
func installHooks(tb testing.TB, r *gittest.Repository) {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range []string{"pre-commit", "pre-merge-commit", "post-commit"} {
		script := fmt.Sprintf("#!/bin/sh\n%s=%s exec %q\n", hookEnv, name, self)
		r.WriteFile(".git/hooks/"+name, script)
		if err := os.Chmod(r.Path(".git/hooks/"+name), 0o755); err != nil {
			tb.Fatal(err)
		}
	}
}

func openRepo(tb testing.TB, r *gittest.Repository) *gitint.Repo {
	tb.Helper()
	repo, err := gitint.Open(context.Background(), gitint.Options{
		Dir: r.Dir, Env: r.Env, LockTimeout: 50 * time.Millisecond,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = repo.Close() })
	return repo
}

// The conversations of the tests.
const (
	firstID  events.ID = 17758406187
	secondID events.ID = 17758406190
)

// A fixture writes conversations into a working tree.
type fixture struct {
	*gittest.Repository
	tb  testing.TB
	dir string // .jp
}

func newFixture(tb testing.TB) fixture {
	tb.Helper()
	r := gittest.Repo(tb)
	r.WriteFile("code.go", "package code\n")
	r.WriteFile(".jp/.gitignore", "/blobs/.tmp/\nQUERY_MESSAGE.md\n")
	r.Commit("base")
	return fixture{r, tb, ".jp"}
}

func (f fixture) in(dir string) fixture {
	f.Repository = f.In(dir)
	return f
}

// converse writes a conversation with one call for each content, and returns its
// directory.
func (f fixture) converse(id events.ID, slug string, contents ...string) string {
	f.tb.Helper()
	dir := fmt.Sprintf("%s/conversations/%d-%s", f.dir, int64(id), slug)
	const at = `"timestamp": "2026-04-10 17:04:20.531233"`
	elements := []string{
		fmt.Sprintf(`{%s, "type": "turn_start"}`, at),
		fmt.Sprintf(`{%s, "type": "chat_request", "content": "read"}`, at),
	}
	for i, c := range contents {
		ref := f.blob(c)
		elements = append(elements,
			fmt.Sprintf(`{%s, "type": "tool_call_request", "id": "call%d", "name": "read",
				"arguments": {}}`, at, i),
			fmt.Sprintf(`{%s, "type": "tool_call_response", "id": "call%d", "is_error": false,
				"content": [{"type": "text", "content": {"$blob": "%s", "size": %d}}]}`,
				at, i, ref.Hash, ref.Size))
	}
	elements = append(elements,
		fmt.Sprintf(`{%s, "type": "chat_response", "message": "done"}`, at))
	f.WriteFile(dir+"/events.json", "[\n"+strings.Join(elements, ",\n")+"\n]\n")
	f.WriteFile(dir+"/metadata.json",
		fmt.Sprintf(`{"title": %q, "last_activated_at": "2026-04-10 17:03:38.711874"}`, slug)+"\n")
	f.WriteFile(dir+"/base_config.json", "{}\n")
	return dir
}

// blob writes content into the store of the working tree.
func (f fixture) blob(content string) blobs.Ref {
	f.tb.Helper()
	store, err := blobs.Open(filepath.Join(f.Dir, filepath.FromSlash(f.dir), blobs.Dir),
		blobs.Options{})
	if err != nil {
		f.tb.Fatal(err)
	}
	defer store.Close()
	ref, err := store.Write([]byte(content))
	if err != nil {
		f.tb.Fatal(err)
	}
	return ref
}

// blobPath returns the path of a content's blob.
func (f fixture) blobPath(content string) string {
	return f.dir + "/blobs/" + blobs.Sum([]byte(content)).Path()
}

func (f fixture) request(ids ...events.ID) stage.Request {
	return stage.Request{Repo: openRepo(f.tb, f.Repository), Dir: f.dir, IDs: ids}
}

// index returns our paths in the index.
func (f fixture) index() []string {
	f.tb.Helper()
	return strings.Split(f.Run("ls-files", f.dir+"/conversations", f.dir+"/blobs"), "\n")
}

// preCommit runs the hook in this process and counts the processes it starts.
func (f fixture) preCommit(t *testing.T) (*stage.Verdict, int) {
	t.Helper()
	repo := openRepo(t, f.Repository)
	v, err := stage.Hook{Repo: repo}.PreCommit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v, repo.Processes()
}
