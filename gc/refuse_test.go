package gc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
)

// TestRefusals creates each condition that prevents the collector from knowing all roots, with a
// dead blob, which is kept. The obstacle names the root.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name         string
		make         func(f *fixture)
		reason, want string
	}{
		{"corrupt stream on a branch nobody uses", func(f *fixture) {
			f.Run("branch", "forgotten", f.commitFile(conversation+"/events.json", "[{"))
		}, gc.ReasonStream, "refs/heads/forgotten:" + conversation + "/events.json: "},
		{"corrupt stream in the working tree", func(f *fixture) {
			f.WriteFile(conversation+"/events.json", "[{]")
		}, gc.ReasonStream, "the main worktree:" + conversation + "/events.json: "},
		{"corrupt stream in another worktree", func(f *fixture) {
			f.Run("worktree", "add", "-q", "../linked")
			f.at("../linked").workspace("")
			f.at("../linked").WriteFile(conversation+"/events.json", "[{]")
		}, gc.ReasonStream, `worktree "linked":` + conversation},
		{"corrupt stream in the index", func(f *fixture) {
			f.WriteFile(conversation+"/events.json", "[{]")
			f.Run("add", "-A", ".jp")
			f.Remove(conversation)
		}, gc.ReasonStream, "index of the main worktree:" + conversation},
		{"stream with a byte that is no text", func(f *fixture) {
			f.WriteFile(conversation+"/events.json",
				strings.Replace(stream(blobs.Sum(nil)), "why", "wh\xff", 1))
		}, gc.ReasonStream, "invalid UTF-8"},
		{"conflict markers", func(f *fixture) {
			f.WriteFile(conversation+"/events.json", "<<<<<<< HEAD\n[]\n=======\n")
		}, gc.ReasonStream, conversation},
		{"content in a form of the future", func(f *fixture) {
			f.WriteFile(conversation+"/events.json", strings.Replace(stream(blobs.Sum(nil)),
				`"size":1`, `"size":{"of":"the future"}`, 1))
		}, gc.ReasonStream, conversation},
		{"stream in Git LFS, long past", func(f *fixture) {
			c := f.commitFile(conversation+"/events.json",
				"version https://git-lfs.github.com/spec/v1\noid sha256:"+
					strings.Repeat("a", 64)+"\nsize 12\n")
			f.Run("branch", "other", f.Run("commit-tree", "-m", "x", "-p", c, "HEAD^{tree}"))
		}, gc.ReasonOpaque, "history:" + conversation},
		{"stream in Git LFS on a split branch", func(f *fixture) {
			f.converse(conversation)
			f.WriteFile(conversation+"/events.json", "version https://git-lfs.github.com/spec/v1\n"+
				"oid sha256:"+strings.Repeat("a", 64)+"\nsize 12\n")
			f.Run("add", conversation)
			f.Run("commit", "-q", "-m", "x")
			f.Run("tag", "split", f.Run("commit-tree", "-m", "x", "HEAD:.jp"))
			f.Run("reset", "-q", "--hard", "HEAD~1")
			f.Remove(".git/logs")
			f.Remove(".git/ORIG_HEAD")
		}, gc.ReasonOpaque, "history:conversations/17800000001-one/events.json"},
		{"encrypted stream, long past", func(f *fixture) {
			c := f.commitFile(conversation+"/events.json", "\x00GITCRYPT\x00abc")
			f.Run("branch", "other", f.Run("commit-tree", "-m", "x", "-p", c, "HEAD^{tree}"))
		}, gc.ReasonOpaque, conversation},
		{"missing object of a stream", func(f *fixture) {
			h := f.commit(blobs.Sum(nil))
			f.Run("branch", "other", h)
			f.lose(h + ":" + conversation + "/events.json")
		}, gc.ReasonObject, "refs/heads/other: "},
		{"missing tree", func(f *fixture) {
			h := f.commit(blobs.Sum(nil))
			f.Run("branch", "other", h)
			f.lose(h + ":.jp")
		}, gc.ReasonObject, "refs/heads/other: "},
		{"missing commit of a branch", func(f *fixture) {
			h := f.commit(blobs.Sum(nil))
			f.Run("branch", "other", h)
			f.lose(h)
		}, gc.ReasonObject, "refs/heads/other: "},
		{"missing commit long past", func(f *fixture) {
			c := f.commit(blobs.Sum(nil))
			f.Run("branch", "other", f.Run("commit-tree", "-m", "x", "-p", c, "HEAD^{tree}"))
			f.lose(c)
		}, gitint.ReasonUnreadable, "list commits"},
		{"object with the bytes of another", func(f *fixture) {
			h := f.commit(blobs.Sum(nil))
			f.Run("branch", "other", h)
			f.swap(h+":"+conversation+"/events.json", "HEAD:readme")
		}, gc.ReasonObject, "refs/heads/other: "},
		{"shallow clone", func(f *fixture) {
			f.WriteFile(".git/shallow", f.Run("rev-parse", "HEAD")+"\n")
		}, gitint.ReasonShallow, "history is cut off"},
		{"variable of a git to come", func(f *fixture) {
			f.Repository = f.With("GIT_OF_THE_FUTURE=1")
		}, gitint.ReasonEnvironment, "GIT_OF_THE_FUTURE=1"},
		{"refs in another store", func(f *fixture) {
			f.Repository = f.With("GIT_REFERENCE_BACKEND=files://" + f.Path(".git"))
		}, gitint.ReasonEnvironment, "GIT_REFERENCE_BACKEND"},
		{"another list of where history is cut off", func(f *fixture) {
			f.Repository = f.With("GIT_SHALLOW_FILE=")
		}, gitint.ReasonEnvironment, "GIT_SHALLOW_FILE"},
		{"another list of grafts", func(f *fixture) {
			f.Repository = f.With("GIT_GRAFT_FILE=" + f.Path("none"))
		}, gitint.ReasonEnvironment, "GIT_GRAFT_FILE"},
		{"replacements elsewhere", func(f *fixture) {
			f.Repository = f.With("GIT_REPLACE_REF_BASE=refs/other/")
		}, gitint.ReasonEnvironment, "GIT_REPLACE_REF_BASE"},
		{"objects of a push that is not through", func(f *fixture) {
			f.Repository = f.With("GIT_QUARANTINE_PATH=" + f.Path(".git/objects/incoming"))
		}, gitint.ReasonEnvironment, "GIT_QUARANTINE_PATH"},
		{"grafts", func(f *fixture) {
			f.WriteFile(".git/info/grafts", f.Run("rev-parse", "HEAD")+"\n")
		}, gitint.ReasonGrafts, "grafts"},
		{"alternate that is gone", func(f *fixture) {
			f.WriteFile(".git/objects/info/alternates", "/nowhere/objects\n")
		}, gitint.ReasonAlternates, "/nowhere/objects"},
		{"empty ref", func(f *fixture) {
			f.WriteFile(".git/refs/heads/torn", "")
		}, gitint.ReasonRef, "refs/heads/torn"},
		{"emptied packed-refs", func(f *fixture) {
			f.WriteFile(".git/packed-refs", "")
		}, gitint.ReasonRef, "packed-refs: it is empty"},
		{"torn HEAD of another worktree", func(f *fixture) {
			f.Run("worktree", "add", "-q", "../linked")
			f.WriteFile(".git/worktrees/linked/HEAD", "")
		}, gitint.ReasonRef, `HEAD of worktree "linked"`},
		{"mail in base64 that an am has not reached", func(f *fixture) {
			f.applyMails(f.mailOf("HEAD", inBase64))
		}, gitint.ReasonOperation, `0002 is a mail in the transfer encoding "base64"`},
		{"mail in quoted-printable", func(f *fixture) {
			f.applyMails(f.mailOf("HEAD", inQuotedPrintable))
		}, gitint.ReasonOperation, `0002 is a mail in the transfer encoding "quoted-printable"`},
		{"mail with a binary patch", func(f *fixture) {
			f.applyMails(f.mailOf("HEAD", inBinaryPatch))
		}, gitint.ReasonOperation, "0002 has a binary patch"},
		{"torn reflog", func(f *fixture) {
			f.WriteFile(".git/logs/refs/heads/main", "0123")
		}, gitint.ReasonUnreadable, "main: it has the line"},
		{"reflog that lacks an entry", func(f *fixture) {
			head := f.Run("rev-parse", "HEAD")
			entry := fmt.Sprintf(" Ada <a@b> %d +0000\tx\n", time.Now().Unix())
			f.WriteFile(".git/logs/refs/heads/main", strings.Repeat("0", 40)+" "+f.commit()+entry+
				head+" "+head+entry)
		}, gitint.ReasonReflog, "main: entries are missing before main@{0}"},
		{"branch of HEAD that is gone, and its log is not", func(f *fixture) {
			f.Remove(".git/refs/heads/main")
		}, gitint.ReasonReflog, "refs/heads/main: the ref is gone"},
		{"cut record of an open conflict", func(f *fixture) {
			f.WriteFile(".git/jp/conflicts/1.json", `{"path": "x", "theirs": "W3si`)
		}, gitint.ReasonOperation, "jp/conflicts/1.json: is not a conflict record"},
		{"torn index", func(f *fixture) {
			f.WriteFile(".git/index", "DIRC\x00\x00\x00\x02")
		}, gitint.ReasonUnreadable, "the main worktree: read index"},
		{"index that was cut off", func(f *fixture) {
			f.cutIndex(".git/index")
		}, gitint.ReasonUnreadable, "the main worktree: read index"},
		{"index that was cut off, of another worktree", func(f *fixture) {
			f.Run("worktree", "add", "-q", "../linked")
			f.cutIndex(".git/worktrees/linked/index")
		}, gitint.ReasonUnreadable, `worktree "linked": read index`},
		{"index that was cut off, of GIT_INDEX_FILE", func(f *fixture) {
			data := f.ReadFile(".git/index")
			f.WriteFile(".git/other-index", data[:len(data)-20])
			f.Repository = f.With("GIT_INDEX_FILE=" + f.Path(".git/other-index"))
		}, gitint.ReasonUnreadable, "other-index: it is truncated or damaged"},
		{"lock of the index that a killed git left", func(f *fixture) {
			f.WriteFile(".git/index.lock", "")
		}, gc.ReasonLocked, "index.lock of the main worktree: "},
		{"lock of the index that was cut off, of another worktree", func(f *fixture) {
			f.Run("worktree", "add", "-q", "../linked")
			data := f.ReadFile(".git/worktrees/linked/index")
			f.WriteFile(".git/worktrees/linked/index.lock", data[:len(data)-1])
		}, gc.ReasonLocked, `index.lock of worktree "linked": `},
		{"index of a commit of some paths that was cut off", func(f *fixture) {
			f.WriteFile(".git/next-index-17.lock", "DIRC")
		}, gc.ReasonLocked, "next-index-17.lock of the main worktree: "},
		{"base of a split index that was cut off", func(f *fixture) {
			f.Run("update-index", "--split-index")
			bases, err := filepath.Glob(f.Path(".git/sharedindex.*"))
			if err != nil || len(bases) != 1 {
				f.tb.Fatalf("bases %v, %v", bases, err)
			}
			f.cutIndex(".git/" + filepath.Base(bases[0]))
		}, gitint.ReasonUnreadable, "it is truncated or damaged"},
		{"worktree that cannot be found", func(f *fixture) {
			f.WriteFile(".git/worktrees/x/HEAD", "ref: refs/heads/main\n")
		}, gitint.ReasonWorktree, `worktree "x"`},
		{"worktree on a drive that is not there", func(f *fixture) {
			f.Run("worktree", "add", "-q", "--lock", "../linked")
			f.Remove("../linked")
		}, gitint.ReasonWorktree, "it is locked, and nothing is at"},
		{"rebase of commits that are not here", func(f *fixture) {
			f.WriteFile(".git/rebase-merge/git-rebase-todo", "pick 0123456 x\n")
		}, gitint.ReasonOperation, "0123456"},
		{"store of a version to come", func(f *fixture) {
			f.WriteFile(".jp/blobs/pack/0001.pack", "of the future")
		}, gc.ReasonForeign, "pack: is not a blob: a newer version may have created it"},
		{"store that is a link", func(f *fixture) {
			if err := os.Rename(f.Path(".jp/blobs"), f.Path(".jp/shared")); err != nil {
				f.tb.Fatal(err)
			}
			if err := os.Symlink("shared", f.Path(".jp/blobs")); err != nil {
				f.tb.Fatal(err)
			}
		}, gc.ReasonLinked, "is a symbolic link: others may refer"},
		{"conversation that is a link", func(f *fixture) {
			f.WriteFile("elsewhere/events.json", "[]\n")
			err := os.Symlink(f.Path("elsewhere"), f.Path(".jp/conversations/1-linked"))
			if err != nil {
				f.tb.Fatal(err)
			}
		}, gc.ReasonLinked, ".jp/conversations/1-linked: is a symbolic link"},
		{"what was quarantined is a link", func(f *fixture) {
			f.WriteFile(".git/jp/trash/repair-1/note", "")
			err := os.Symlink("/nowhere", f.Path(".git/jp/trash/repair-1/events.json"))
			if err != nil {
				f.tb.Fatal(err)
			}
		}, gc.ReasonLinked, "events.json: is a symbolic link"},
		{"reference of a branch without content", func(f *fixture) {
			f.Run("branch", "other", f.commit(blobs.Sum([]byte("lost"))))
		}, gc.ReasonMissing, "refs/heads/other:" + conversation},
		{"reference of the working tree without content", func(f *fixture) {
			f.converse(conversation, blobs.Sum([]byte("lost")))
		}, gc.ReasonMissing, "the main worktree:" + conversation},
		{"reference of the index without content", func(f *fixture) {
			f.converse(conversation, blobs.Sum([]byte("lost")))
			f.Run("add", "-A", conversation)
			f.Remove(conversation)
		}, gc.ReasonMissing, "index of the main worktree:" + conversation},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			newFixture(t).refuses(tt.make, tt.reason, tt.want)
		})
	}
}

// refuses checks that a collection is refused once something was created, and names it.
func (f *fixture) refuses(make func(f *fixture), reason, want string) {
	f.tb.Helper()
	dead := f.blob("dead")
	make(f)
	_, err := f.collect()
	refused := new(gc.RefusedError)
	if !errors.As(err, &refused) {
		f.tb.Fatalf("not refused: %v", err)
	}
	if !refused.Has(reason) || !strings.Contains(err.Error(), want) {
		f.tb.Errorf("refused with %q because of %q, want %q because of %q",
			err, refused.Obstacles[0].Reason, want, reason)
	}
	if _, err := os.Stat(f.store(dead)); err != nil {
		f.tb.Error("something was deleted all the same")
	}
}

// cutIndex removes the second half of an index: git then reads no entries from it, or fewer.
func (f *fixture) cutIndex(name string) {
	data := f.ReadFile(name)
	f.Remove(name) // it may be read-only
	f.WriteFile(name, data[:len(data)/2])
}

func (f *fixture) store(h blobs.Hash) string {
	return f.Path(".jp/blobs/" + filepath.FromSlash(h.Path()))
}

func (f *fixture) loose(rev string) string {
	id := f.Run("rev-parse", rev)
	return f.Path(".git/objects/" + id[:2] + "/" + id[2:])
}

// lose deletes an object.
func (f *fixture) lose(rev string) {
	f.tb.Helper()
	if err := os.Remove(f.loose(rev)); err != nil {
		f.tb.Fatal(err)
	}
}

// swap replaces the file of an object with that of another.
func (f *fixture) swap(rev, other string) {
	f.tb.Helper()
	data, err := os.ReadFile(f.loose(other))
	if err == nil {
		_ = os.Remove(f.loose(rev)) // it is read-only
		err = os.WriteFile(f.loose(rev), data, 0o444)
	}
	if err != nil {
		f.tb.Fatal(err)
	}
}

// TestRefusalsWithACache checks that the answer is the same if everything was cached before it was
// lost.
func TestRefusalsWithACache(t *testing.T) {
	carried := ".jp/blobs/" + blobs.Sum([]byte("dead")).Path()
	for _, lost := range []string{
		"other:" + conversation + "/events.json", "other:.jp/conversations", "other~1:.jp/conversations",
		"other~1:" + conversation + "/events.json", "other~1",
		"other~1:.jp", "other~1^{tree}", "other:.jp", "other^{tree}", "other:" + conversation,
		"other~1:" + conversation, "other~2^{tree}", "other~2:.jp", "other~2:.jp/blobs",
		"other~2:" + path.Dir(path.Dir(carried)), "other~2:" + path.Dir(carried),
	} {
		t.Run(lost, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.withCache()
			dead := f.blob("dead")
			first := f.commitFile(conversation+"/events.json", stream(dead),
				carried, string(blobs.Encode([]byte("dead"))))
			c := f.commit(blobs.Sum([]byte("x")))
			c = f.Run("commit-tree", "-m", "x", "-p", first, c+"^{tree}")
			second := f.commitFile(conversation+"/events.json", stream(blobs.Sum([]byte("y"))))
			f.blob("x")
			f.blob("y")
			f.Run("branch", "other", f.Run("commit-tree", "-m", "x", "-p", c, second+"^{tree}"))
			o := f.options()
			if p, err := gc.MakePlan(t.Context(), o); err != nil || len(p.Items) != 1 {
				t.Fatalf("plan %+v, %v", p, err)
			}
			if err := f.cache.Close(); err != nil {
				t.Fatal(err)
			}
			f.lose(lost)
			f.withCache()
			refused := new(gc.RefusedError)
			if _, err := f.collect(); !errors.As(err, &refused) {
				t.Errorf("not refused: %v", err)
			}
			if !f.has(dead) {
				t.Error("something was deleted")
			}
		})
	}
}

func TestCancelledDeletesNothing(t *testing.T) {
	f := newFixture(t)
	dead := f.blob("dead")
	o := f.options()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gc.MakePlan(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("plan: %v", err)
	}
	p, err := gc.MakePlan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	o.Hook = func(s gc.Step, _ string) error {
		if s == gc.StepMove {
			cancel() // after the first move
		}
		return nil
	}
	f.blob("another")
	if _, err := gc.Sweep(ctx, o, p); !errors.Is(err, context.Canceled) {
		t.Errorf("sweep: %v", err)
	}
	if !f.has(dead) {
		t.Error("something was deleted")
	}
}

func TestAcceptMissing(t *testing.T) {
	f := newFixture(t)
	dead := f.blob("dead")
	lost := blobs.Sum([]byte("lost"))
	f.Run("branch", "other", f.commit(lost))
	o := f.options()
	o.AcceptMissing = true
	p, err := gc.MakePlan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Missing) != 1 || !strings.Contains(p.Missing[0].Detail, lost.String()) {
		t.Errorf("listed as missing: %v", p.Missing)
	}
	if _, err := gc.Sweep(t.Context(), o, p); err != nil {
		t.Fatal(err)
	}
	if f.has(dead) {
		t.Error("it is still there")
	}
}

// TestMissingAgain checks that what was missing once is found by each later collection too: only a
// tree that has all that it refers to is remembered as complete.
func TestMissingAgain(t *testing.T) {
	f := newFixture(t)
	f.withCache()
	f.blob("dead")
	f.Run("branch", "other", f.commit(blobs.Sum([]byte("lost"))))
	for _, want := range []string{"first", "second"} {
		_, err := f.collect()
		if refused := new(gc.RefusedError); !errors.As(err, &refused) ||
			!refused.Has(gc.ReasonMissing) {
			t.Errorf("the %s collection: %v, want one refused for missing content", want, err)
		}
	}
}

// TestStagedIsNotMissing checks that content which only the index has, as after its file was
// removed, is not missing for the conversation in the index.
func TestStagedIsNotMissing(t *testing.T) {
	f := newFixture(t)
	f.converse(conversation, f.blob("staged"))
	f.Run("add", "-A", ".jp")
	f.Remove(conversation)
	f.Remove(".jp/blobs")
	dead := f.blob("dead")
	if _, err := f.collect(); err != nil {
		t.Fatal(err)
	}
	if f.has(dead) {
		t.Error("it is still there")
	}
}
