package teams_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/scripts"
)

// A contentRepo has two branches: on one a blob was removed and another added that git takes for
// its rename, on the other the first was re-encoded.
type contentRepo struct {
	managedRepo
	path string // of the added blob
	want string // its file
}

const mergedConversation = ".jp/conversations/17800000001-one"

func mergeContent(t *testing.T) contentRepo {
	scripts.DependOnSources(t)
	r := contentRepo{managedRepo: managedRepo{Repository: gittest.Repo(t), t: t}}
	home := gittest.TempDir(t)
	r.Env = append(r.Env, "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home)
	first := make([]byte, 20_000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range first {
		first[i] = byte(random.Uint32())
	}
	second := append(append([]byte(nil), first...), "more"...)
	was := ".jp/blobs/" + blobs.RefTo(first).Hash.Path()
	r.path, r.want = ".jp/blobs/"+blobs.RefTo(second).Hash.Path(), string(blobs.Encode(second))
	r.jp("init", "-q")
	r.refer(first)
	r.WriteFile(was, string(blobs.Encode(first)))
	r.Commit("base")
	r.Run("checkout", "-q", "-b", "anew")
	anew := blobs.Encode(first)
	anew[9] = 3 // the system on which it was packed
	r.WriteFile(was, string(anew))
	r.Commit("anew")
	r.Run("checkout", "-q", "main")
	r.Remove(was)
	r.refer(second)
	r.WriteFile(r.path, r.want)
	r.Commit("another")
	if out := r.Run("show", "--name-status", "-M", "--format="); !strings.Contains(out, "R0") {
		t.Fatalf("git sees no rename:\n%s", out)
	}
	// A clone without the drivers, and with the hooks.
	r.Run("config", "--remove-section", "merge.jp-blob")
	r.Remove(".git/info/attributes")
	return r
}

// refer makes the conversation refer to a content.
func (r contentRepo) refer(content []byte) {
	r.t.Helper()
	for name, data := range scripts.Conversation("One", []string{string(content)}) {
		r.WriteFile(mergedConversation+"/"+name, data)
	}
	r.jp("migrate", "-q")
}

func (r contentRepo) wantWhole() {
	r.t.Helper()
	if got := r.Run("cat-file", "-p", "HEAD:"+r.path); got != strings.TrimSpace(r.want) {
		r.t.Error("the merge has another content")
	}
	r.jp("install", "-q")
	r.jp("check", "--content", "HEAD")
}

// TestMergeTookAnotherContent: with -X git puts the content of one file into another, without a
// message.
func TestMergeTookAnotherContent(t *testing.T) {
	t.Run("before the commit", func(t *testing.T) {
		r := mergeContent(t)
		out, err := r.sh("git", "merge", "-q", "-m", "m", "-X", "theirs", "anew")
		if err == nil || !strings.Contains(out, "fixed and is not committed yet") {
			t.Fatalf("%v: %s", err, out)
		}
		r.must("git", "commit", "-q", "--no-edit")
		r.wantWhole()
	})
	t.Run("past the hook", func(t *testing.T) {
		r := mergeContent(t)
		out := r.must("git", "merge", "-q", "--no-verify", "-m", "m", "-X", "theirs", "anew")
		if !strings.Contains(out, "it is in the commit") {
			t.Fatal(out)
		}
		r.wantWhole()
	})
	t.Run("waiting", func(t *testing.T) {
		r := mergeContent(t)
		r.must("git", "merge", "-q", "--no-commit", "-X", "theirs", "anew")
		r.must("git", "commit", "-q", "--no-edit")
		r.wantWhole()
	})
	t.Run("told to check only", func(t *testing.T) {
		r := mergeContent(t)
		r.jp("config", "set", "hooks.stage", "false")
		out, err := r.sh("git", "merge", "-q", "-m", "m", "-X", "theirs", "anew")
		if err == nil || !strings.Contains(out, "the merge put another one there") {
			t.Fatalf("%v: %s", err, out)
		}
	})
}
