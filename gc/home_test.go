package gc_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// homeRows returns workspaces and user-local copies that neither a search from the root of the
// working tree nor one by the id of the open workspace finds.
func homeRows() []row {
	copyIn := func(f *fixture, dir string, h blobs.Hash) {
		f.WriteFile("../data/workspace/"+dir+"/conversations/1-x/events.json", stream(h))
	}
	const otherID = "generated\nzzzzz\n"
	return []row{
		{"workspace below node_modules", func(f *fixture, h blobs.Hash) {
			f.workspace("node_modules/x")
			f.converse("node_modules/x/"+conversation, h)
		}},
		{"workspace within .jp", func(f *fixture, h blobs.Hash) {
			f.workspace(".jp/sub")
			f.converse(".jp/sub/"+conversation, h)
		}},
		{"workspace beside an empty .git", func(f *fixture, h blobs.Hash) {
			f.mkdir("sub/.git")
			f.workspace("sub")
			f.converse("sub/"+conversation, h)
		}},
		{"workspace beside a .git that leads nowhere", func(f *fixture, h blobs.Hash) {
			f.WriteFile("sub/.git", "gitdir: ../nowhere\n")
			f.workspace("sub")
			f.converse("sub/"+conversation, h)
		}},
		{"workspace of a branch, a repository by now", func(f *fixture, h blobs.Hash) {
			f.Run("branch", "other", f.commitFile("sub/"+conversation+"/events.json", stream()))
			f.Run("init", "-q", "sub")
			f.converse("sub/"+conversation, h)
		}},
		{"workspace of the index, a repository by now", func(f *fixture, h blobs.Hash) {
			id := f.RunInput(stream(), "hash-object", "-w", "--stdin")
			f.Run("update-index", "--add", "--cacheinfo",
				"100644,"+id+",a/b/"+conversation+"/events.json")
			f.Run("init", "-q", "a")
			f.converse("a/b/"+conversation, h)
		}},
		{"such a one in another worktree", func(f *fixture, h blobs.Hash) {
			f.Run("branch", "other", f.commitFile("sub/"+conversation+"/events.json", stream()))
			f.Run("worktree", "add", "-q", "../linked")
			l := f.at("../linked")
			l.Run("init", "-q", "sub")
			l.converse("sub/"+conversation, h)
		}},
		{"user-local copy in a second directory", func(f *fixture, h blobs.Hash) {
			copyIn(f, "repo-abcde", blobs.Sum([]byte("other")))
			copyIn(f, "older-abcde", h)
		}},
		{"user-local copy by an id of the index", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".jp/.id", otherID)
			f.Run("add", ".jp/.id")
			f.workspace("")
			copyIn(f, "repo-zzzzz", h)
		}},
		{"user-local copy by an id of a branch", func(f *fixture, h blobs.Hash) {
			f.Run("branch", "other", f.commitFile(".jp/.id", otherID))
			copyIn(f, "repo-zzzzz", h)
		}},
		{"user-local copy by an id of a tag of .jp", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".jp/.id", otherID)
			f.converse(conversation)
			f.Run("add", ".jp/.id", conversation)
			f.Run("tag", "kept", f.Run("write-tree", "--prefix=.jp"))
			f.Run("reset", "-q", "--hard")
			f.workspace("")
			copyIn(f, "repo-zzzzz", h)
		}},
		{"user-local copy by an id of another worktree", func(f *fixture, h blobs.Hash) {
			f.Run("worktree", "add", "-q", "../linked")
			f.WriteFile("../linked/.jp/.id", otherID)
			copyIn(f, "repo-zzzzz", h)
		}},
		{"user-local copy by its link", func(f *fixture, h blobs.Hash) {
			copyIn(f, "repo-00000", h)
			f.symlink(f.Path(".jp"), "../data/workspace/repo-00000/storage")
		}},
		{"user-local copy by a link to what is gone", func(f *fixture, h blobs.Hash) {
			copyIn(f, "repo-00000", h)
			f.symlink(f.Path("gone/.jp"), "../data/workspace/repo-00000/storage")
		}},
		{"user-local copy by a link to where the repository was", func(f *fixture, h blobs.Hash) {
			copyIn(f, "repo-00000", h)
			f.symlink(f.Path("../before/.jp"), "../data/workspace/repo-00000/storage")
		}},
		{"user-local copy by a link in a circle", func(f *fixture, h blobs.Hash) {
			copyIn(f, "repo-00000", h)
			f.symlink("storage", "../data/workspace/repo-00000/storage")
		}},
		{"user-local copy by a link into the working tree", func(f *fixture, h blobs.Hash) {
			copyIn(f, "repo-00000", h)
			f.symlink(f.Dir, "../data/workspace/repo-00000/storage")
		}},
		{"user-local copy by a relative link", func(f *fixture, h blobs.Hash) {
			copyIn(f, "repo-00000", h)
			f.symlink("../../../repo/.jp", "../data/workspace/repo-00000/storage")
		}},
		{"user-local copy behind a link, by a relative one", func(f *fixture, h blobs.Hash) {
			copyIn(f, "../x", h)
			f.mkdir("../data/workspace")
			f.mkdir("../data/repo/.jp") // to which it leads as a text
			f.symlink("../x", "../data/workspace/repo-00000")
			f.symlink("../../repo/.jp", "../data/x/storage")
		}},
		{"user-local copy by a link through another name", func(f *fixture, h blobs.Hash) {
			copyIn(f, "repo-00000", h)
			f.symlink("repo", "../alias")
			f.symlink(f.Path("../alias/.jp"), "../data/workspace/repo-00000/storage")
		}},
		{"user-local copy named by the id alone", func(f *fixture, h blobs.Hash) {
			copyIn(f, "abcde", h)
		}},
		{"user-local copy by an id of a remote-tracking branch", func(f *fixture, h blobs.Hash) {
			f.Run("update-ref", "refs/remotes/origin/main", f.commitFile(".jp/.id", otherID))
			copyIn(f, "repo-zzzzz", h)
		}},
		{"user-local copy by an id of the stash", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".jp/.id", otherID)
			f.Run("stash", "push", "-q")
			copyIn(f, "repo-zzzzz", h)
		}},
		{"user-local copy by an id of a conflict", func(f *fixture, h blobs.Hash) {
			id := f.RunInput(otherID, "hash-object", "-w", "--stdin")
			f.RunInput("100644 "+id+" 3\t.jp/.id\n", "update-index", "--index-info")
			copyIn(f, "repo-zzzzz", h)
		}},
		{"worktree of its own configuration", func(f *fixture, h blobs.Hash) {
			f.linked()
			f.at("../linked").converse(conversation)
			f.ownWorktree("../real").converse(conversation, h)
		}},
		{"worktree of a configuration for all", func(f *fixture, h blobs.Hash) {
			f.linked()
			f.Run("config", "extensions.worktreeConfig", "true")
			f.Run("config", "core.worktree", f.Path("../real"))
			f.at("../real").converse(conversation, h)
			f.Run("config", "--worktree", "core.worktree", f.Dir)
		}},
		{"place of a worktree that is configured elsewhere", func(f *fixture, h blobs.Hash) {
			f.linked()
			f.ownWorktree("../real").converse(conversation)
			f.at("../linked").converse(conversation, h)
		}},
		{"user-local copy behind a link", func(f *fixture, h blobs.Hash) {
			copyIn(f, "../elsewhere/x", h)
			f.mkdir("../data/workspace")
			f.symlink("../elsewhere/x", "../data/workspace/repo-abcde")
		}},
	}
}

func (f *fixture) mkdir(name string) {
	f.tb.Helper()
	if err := os.MkdirAll(f.Path(name), 0o755); err != nil {
		f.tb.Fatal(err)
	}
}

func (f *fixture) symlink(target, name string) {
	f.tb.Helper()
	if err := os.Symlink(target, f.Path(name)); err != nil {
		f.tb.Fatal(err)
	}
}

func (f *fixture) rename(from, to string) {
	f.tb.Helper()
	if err := os.Rename(f.Path(from), f.Path(to)); err != nil {
		f.tb.Fatal(err)
	}
}

// linked returns the fixture of a linked worktree with a workspace.
func (f *fixture) linked() *fixture {
	f.tb.Helper()
	f.Run("worktree", "add", "-q", "../linked")
	return f.at("../linked")
}

// ownWorktree configures another place for the files of the worktree "linked".
func (f *fixture) ownWorktree(dir string) *fixture {
	f.tb.Helper()
	f.Run("config", "extensions.worktreeConfig", "true")
	f.mkdir(dir)
	f.at("../linked").Run("config", "--worktree", "core.worktree", f.Path(dir))
	return f.at(dir)
}

// TestRefusedAtHome has an old blob to which only the open workspace, or a repository in it,
// refers, and creates each reason why that cannot be known. Each is named.
func TestRefusedAtHome(t *testing.T) {
	for _, tt := range []struct {
		name string
		// make returns the working tree in which the collector runs.
		make         func(f *fixture) *fixture
		reason, want string
	}{
		{"a linked worktree that was moved", func(f *fixture) *fixture {
			f.linked()
			f.rename("../linked", "../moved")
			return f.at("../moved")
		}, gitint.ReasonWorktree, "linked, and this is "},
		{"such a one, asked elsewhere", func(f *fixture) *fixture {
			f.linked()
			f.rename("../linked", "../moved")
			return f
		}, gitint.ReasonWorktree, `worktree "linked": nothing is at `},
		{"a linked worktree that was copied", func(f *fixture) *fixture {
			f.linked()
			f.WriteFile("../copy/.git", f.ReadFile("../linked/.git"))
			f.at("../copy").workspace("")
			return f.at("../copy")
		}, gitint.ReasonWorktree, "linked, and this is "},
		{"a configured place that is not there", func(f *fixture) *fixture {
			f.linked()
			f.ownWorktree("../real")
			f.Remove("../real")
			return f
		}, gitint.ReasonWorktree, `worktree "linked": nothing is at `},
		{"a working tree of the environment", func(f *fixture) *fixture {
			f.at("../elsewhere").workspace("")
			c := f.at("../elsewhere")
			c.Repository = c.With("GIT_DIR="+f.Path(".git"), "GIT_WORK_TREE="+c.Dir)
			return c
		}, gitint.ReasonWorktree, "and this is "},
		{"a working tree of the environment, in another repository", func(f *fixture) *fixture {
			f.Run("init", "-q", "../elsewhere")
			f.at("../elsewhere").workspace("")
			c := f.at("../elsewhere")
			c.Repository = c.With("GIT_DIR="+f.Path(".git"), "GIT_WORK_TREE="+c.Dir)
			return c
		}, gc.ReasonNested, "elsewhere/.git: may be another repository"},
		{"a .jp that is a repository", func(f *fixture) *fixture {
			f.Run("init", "-q", ".jp")
			return f
		}, gc.ReasonNested, ".jp/.git: may be another repository"},
		{"a .jp that is a submodule", func(f *fixture) *fixture {
			f.mkdir(".git/modules")
			f.Run("init", "-q", "--separate-git-dir", f.Path(".git/modules/jp"), ".jp")
			return f
		}, gc.ReasonNested, ".jp/.git: may be another repository"},
		{"a .jp that is a bare repository", func(f *fixture) *fixture {
			f.Run("init", "-q", "--bare", ".jp")
			return f
		}, gc.ReasonNested, ".jp: may be another repository"},
		{"a .jp that is a submodule of the index, without its .git", func(f *fixture) *fixture {
			f.Run("rm", "-rq", "--cached", ".jp")
			f.Run("update-index", "--add", "--cacheinfo",
				"160000,"+f.Run("rev-parse", "HEAD")+",.jp")
			return f
		}, gc.ReasonNested, ".jp: may be another repository"},
		{"a directory above that is a submodule of the index", func(f *fixture) *fixture {
			f.Run("update-index", "--add", "--cacheinfo",
				"160000,"+f.Run("rev-parse", "HEAD")+",a/b")
			f.workspace("a/b/c")
			return f.at("a/b/c")
		}, gc.ReasonNested, "a/b: may be another repository"},
		{"blobs that are a repository", func(f *fixture) *fixture {
			f.Run("init", "-q", ".jp/blobs")
			return f
		}, gc.ReasonNested, ".jp/blobs/.git: may be another repository"},
		{"conversations that are a repository", func(f *fixture) *fixture {
			f.Run("init", "-q", ".jp/conversations")
			return f
		}, gc.ReasonNested, ".jp/conversations/.git: may be another repository"},
		{"a conversation that is a repository", func(f *fixture) *fixture {
			f.Run("init", "-q", conversation)
			return f
		}, gc.ReasonNested, conversation + "/.git: may be another repository"},
		{"a workspace beside an empty .git", func(f *fixture) *fixture {
			f.mkdir("sub/.git")
			f.workspace("sub")
			return f.at("sub")
		}, gc.ReasonNested, "sub/.git: may be another repository"},
		{"no id", func(f *fixture) *fixture {
			f.Remove(".jp/.id")
			return f
		}, gc.ReasonID, ".jp/.id: no workspace id"},
		{"an id that is none", func(f *fixture) *fixture {
			f.WriteFile(".jp/.id", "<<<<<<< HEAD\n")
			return f
		}, gc.ReasonID, ".jp/.id: no workspace id"},
		{"an id of another worktree that is none", func(f *fixture) *fixture {
			f.Run("worktree", "add", "-q", "../linked")
			f.WriteFile("../linked/.jp/.id", "")
			return f
		}, gc.ReasonID, "linked/.jp/.id: no workspace id"},
		{"user data that cannot be listed", func(f *fixture) *fixture {
			f.WriteFile("../data/workspace", "a file")
			return f
		}, gc.ReasonFiles, "user-local copies: "},
		{"a user-local copy that cannot be opened", func(f *fixture) *fixture {
			f.mkdir("../data/workspace")
			f.symlink("repo-abcde", "../data/workspace/repo-abcde")
			return f
		}, gc.ReasonFiles, "user-local copies: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			dead := f.blob("dead")
			in := tt.make(f)
			kept := in.blob("kept")
			in.converse(conversation, kept)
			_, err := in.collect()
			refused := new(gc.RefusedError)
			if !errors.As(err, &refused) {
				t.Fatalf("not refused: %v", err)
			}
			var all []string
			for _, o := range refused.Obstacles {
				all = append(all, o.Reason+"> "+o.String())
			}
			text := strings.Join(all, "\n")
			if !refused.Has(tt.reason) || !strings.Contains(text, tt.want) {
				t.Errorf("refused with\n%s\nwant %q because of %q", text, tt.want, tt.reason)
			}
			if !f.has(dead) || !in.has(kept) {
				t.Error("something was deleted all the same")
			}
		})
	}
}

// TestPlaceOfTheEnvironment checks that a repository in its recorded place is collected, also if
// only the environment leads to it.
func TestPlaceOfTheEnvironment(t *testing.T) {
	f := newFixture(t)
	dead, kept := f.blob("dead"), f.blob("kept")
	f.converse(conversation, kept)
	f.rename(".git", "../store")
	f.Run("--git-dir=../store", "config", "core.worktree", f.Dir)
	f.Repository = f.With("GIT_DIR=" + f.Path("../store"))
	if _, err := f.collect(); err != nil {
		t.Fatal(err)
	}
	if f.has(dead) || !f.has(kept) {
		t.Errorf("the dead one is there: %v, the other: %v", f.has(dead), f.has(kept))
	}
}

// TestEmptyStoreNeedsNoID checks that a workspace without an id is refused only if its store has
// blobs.
func TestEmptyStoreNeedsNoID(t *testing.T) {
	f := newFixture(t)
	f.Remove(".jp/.id")
	if _, err := f.collect(); err != nil {
		t.Error(err)
	}
}

// TestWithoutUserData checks that the plan reports that no user-local copies were searched.
func TestWithoutUserData(t *testing.T) {
	notes := func(f *fixture) string {
		t.Helper()
		p, err := gc.MakePlan(t.Context(), f.options())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(p.Notes, "\n")
	}
	f := newFixture(t)
	f.noData = true
	if all := notes(f); !strings.Contains(all, "without a user data directory") {
		t.Errorf("notes %q", all)
	}
	f.noData = false
	if all := notes(f); all != "" {
		t.Errorf("notes %q where nothing goes", all)
	}
	f.blob("dead")
	if all := notes(f); !strings.Contains(all, "data/workspace is not there") {
		t.Errorf("notes %q", all)
	}
	f.mkdir("../data/workspace")
	if all := notes(f); all != "" {
		t.Errorf("notes %q where there is a directory", all)
	}
}

// TestCopiesOfOthers checks that user-local copies of another project keep nothing here.
func TestCopiesOfOthers(t *testing.T) {
	f := newFixture(t)
	dead := f.blob("dead")
	const other = "../data/workspace/other-00000/"
	f.WriteFile(other+"conversations/1-x/events.json", stream(dead))
	f.at("../other").workspace("")
	f.symlink("../../../other/.jp", other+"storage")
	if _, err := f.collect(); err != nil || f.has(dead) {
		t.Errorf("is there: %v, %v", f.has(dead), err)
	}
}

// TestUserDataOfAnother makes the user data unreadable: whether there are copies is unknown then.
func TestUserDataOfAnother(t *testing.T) {
	if gittest.RanAsUser(t) {
		return
	}
	const own = "../data/workspace/older-abcde"
	for _, closed := range []string{
		"../data", "../data/workspace", own, own + "/conversations", own + "/conversations/1-x",
		own + "/conversations/1-x/events.json",
	} {
		t.Run(closed, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.WriteFile(own+"/conversations/1-x/events.json", stream())
			f.refuses(func(f *fixture) { f.closed(closed) }, gc.ReasonFiles, "permission denied")
		})
	}
}

// TestRootsOfUserLocalContent makes a content of the user-local store reachable through each of its
// roots alone.
func TestRootsOfUserLocalContent(t *testing.T) {
	const own = "../data/workspace/repo-abcde/"
	for _, tt := range []struct{ name, file string }{
		{"user-local", own + "conversations/1-x/events.json"},
		{"user-local archive", own + "conversations/.archive/1-x/events.json"},
		{"another user-local directory", "../data/workspace/old-abcde/conversations/1-x/events.json"},
		{"the workspace", conversation + "/events.json"},
		{"trash of the workspace", ".jp/conversations/.trash/1-x/events.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.mkdir(own)
			kept, dead := f.blobIn(own+"blobs/", "kept"), f.blobIn(own+"blobs/", "dead")
			f.WriteFile(tt.file, stream(kept))
			o := f.options()
			o.Repo, o.UserLocal = nil, true
			p, err := gc.MakePlan(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := gc.Sweep(t.Context(), o, p); err != nil {
				t.Fatal(err)
			}
			there := func(h blobs.Hash) bool {
				_, err := os.Lstat(f.Path(own + "blobs/" + filepath.FromSlash(h.Path())))
				return err == nil
			}
			if !there(kept) || there(dead) {
				t.Errorf("kept is there: %v, dead is there: %v", there(kept), there(dead))
			}
		})
	}
}
