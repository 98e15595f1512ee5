package gc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/merge"
)

// A row of the root matrix makes a content reachable through one root and no other.
type row struct {
	name string
	make func(f *fixture, h blobs.Hash)
}

// pseudoRefs are beside HEAD.
var pseudoRefs = []string{
	"ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "BISECT_HEAD",
	"BISECT_EXPECTED_REV", "AUTO_MERGE", "FETCH_HEAD", "MERGE_AUTOSTASH",
}

var operationNames = []string{
	"rebase-merge/onto", "rebase-merge/orig-head", "rebase-merge/stopped-sha",
	"rebase-merge/git-rebase-todo", "rebase-merge/autostash", "rebase-apply/orig-head",
	"rebase-apply/abort-safety", "sequencer/head", "sequencer/todo",
}

var refNames = []string{
	"refs/heads/other", "refs/remotes/origin/main", "refs/tags/light", "refs/jp/custom",
	"refs/jj/keep/1", "refs/notes/x", "refs/bisect/bad", "refs/worktree/own",
	"refs/rewritten/label", "refs/original/refs/heads/main", "refs/pull/1/head",
}

func rows() []row {
	rows := []row{
		{"working tree", func(f *fixture, h blobs.Hash) { f.converse(conversation, h) }},
		{"archive", func(f *fixture, h blobs.Hash) {
			f.converse(".jp/conversations/.archive/17800000001-one", h)
		}},
		{"trash of jp", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".jp/conversations/.trash/1-x/events.json", "[{ broken "+h.String())
		}},
		{"build directory", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".jp/blobs/.tmp/1-x.17.0/events.json", stream(h))
		}},
		{"stream being written", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".jp/blobs/.tmp/events.json.17.0", stream(h))
		}},
		{"copy beside the stream", func(f *fixture, h blobs.Hash) {
			f.WriteFile(conversation+"/events.json.orig", stream(h))
		}},
		{"user-local copy", func(f *fixture, h blobs.Hash) {
			f.WriteFile("../data/workspace/repo-abcde/conversations/1-x/events.json", stream(h))
		}},
		{"workspace below", func(f *fixture, h blobs.Hash) {
			f.workspace("sub")
			f.converse("sub/"+conversation, h)
		}},
		{"another workspace in a branch", func(f *fixture, h blobs.Hash) {
			c := f.commitFile("deep/er/"+conversation+"/events.json", stream(h))
			f.Run("branch", "other", c)
		}},
		{"index", func(f *fixture, h blobs.Hash) {
			f.converse(conversation, h)
			f.Run("add", "-A", conversation)
			f.Remove(conversation)
		}},
		{"index, stage 3", func(f *fixture, h blobs.Hash) {
			id := f.RunInput(stream(h), "hash-object", "-w", "--stdin")
			f.RunInput("100644 "+id+" 3\t"+conversation+"/events.json\n",
				"update-index", "--index-info")
		}},
		{"split index", func(f *fixture, h blobs.Hash) {
			f.converse(conversation, h)
			f.Run("update-index", "--split-index")
			f.Run("add", "-A", conversation)
			f.Remove(conversation)
		}},
		{"working tree of another", func(f *fixture, h blobs.Hash) {
			f.Run("worktree", "add", "-q", "../linked")
			f.at("../linked").converse(conversation, h)
		}},
		{"index of another", func(f *fixture, h blobs.Hash) {
			f.Run("worktree", "add", "-q", "../linked")
			l := f.at("../linked")
			l.converse(conversation, h)
			l.Run("add", "-A", conversation)
			l.Remove(conversation)
		}},
		{"HEAD of another", func(f *fixture, h blobs.Hash) {
			f.Run("worktree", "add", "-q", "--detach", "../linked")
			f.at("../linked").Run("reset", "-q", "--soft", f.commit(h))
			f.Remove(".git/worktrees/linked/logs")
			f.Remove(".git/worktrees/linked/ORIG_HEAD")
			f.Remove(".git/worktrees/linked/index")
		}},
		{"HEAD of a worktree that is gone", func(f *fixture, h blobs.Hash) {
			f.Run("worktree", "add", "-q", "--detach", "../linked")
			f.at("../linked").Run("reset", "-q", "--soft", f.commit(h))
			f.Remove("../linked")
			f.Remove(".git/worktrees/linked/logs")
			f.Remove(".git/worktrees/linked/ORIG_HEAD")
			f.Remove(".git/worktrees/linked/index")
		}},
		{"annotated tag", func(f *fixture, h blobs.Hash) {
			f.Run("tag", "-a", "-m", "x", "v1", f.commit(h))
		}},
		{"tag of a tag", func(f *fixture, h blobs.Hash) {
			f.Run("tag", "-a", "-m", "x", "v1", f.commit(h))
			f.Run("tag", "-a", "-m", "x", "v2", "v1")
			f.Run("tag", "-d", "v1")
		}},
		{"tag of a tree", func(f *fixture, h blobs.Hash) {
			f.Run("tag", "-a", "-m", "x", "v1", f.commit(h)+"^{tree}")
		}},
		{"ref to a stream", func(f *fixture, h blobs.Hash) {
			id := f.RunInput(stream(h), "hash-object", "-w", "--stdin")
			f.Run("update-ref", "refs/kept/stream", id)
		}},
		{"tag of .jp", func(f *fixture, h blobs.Hash) { f.Run("tag", "v1", f.commit(h)+":.jp") }},
		{"tag of the conversations", func(f *fixture, h blobs.Hash) {
			f.Run("tag", "v1", f.commit(h)+":.jp/conversations")
		}},
		{"tag of a conversation", func(f *fixture, h blobs.Hash) {
			f.Run("tag", "v1", f.commit(h)+":"+conversation)
		}},
		{"annotated tag of a conversation in jp's trash", func(f *fixture, h blobs.Hash) {
			c := f.commitFile(".jp/conversations/.trash/1-x/events.json", "[{ broken "+h.String())
			f.Run("tag", "-a", "-m", "x", "v1", c+":.jp/conversations")
		}},
		{"tag of a stream", func(f *fixture, h blobs.Hash) {
			f.Run("tag", "v1", f.commit(h)+":"+conversation+"/events.json")
		}},
		{"branch of git subtree split", func(f *fixture, h blobs.Hash) {
			f.Run("branch", "split", f.Run("commit-tree", "-m", "x", f.commit(h)+":.jp"))
		}},
		{"older commit of a split branch", func(f *fixture, h blobs.Hash) {
			c := f.Run("commit-tree", "-m", "x", f.commit(h)+":.jp")
			f.Run("branch", "split", f.Run("commit-tree", "-m", "x", "-p", c, "HEAD:.jp"))
		}},
		{"reflog of a split branch, as one conversation", func(f *fixture, h blobs.Hash) {
			f.Run("branch", "split", f.Run("commit-tree", "-m", "x", f.commit(h)+":"+conversation))
			f.Run("branch", "--force", "split", "HEAD")
		}},
		{".jp under another name", func(f *fixture, h blobs.Hash) {
			f.Run("branch", "moved",
				f.commitFile("old/jp/conversations/17800000001-one/events.json", stream(h)))
		}},
		{".JP in a branch", func(f *fixture, h blobs.Hash) {
			f.Run("branch", "upper",
				f.commitFile(".JP/Conversations/17800000001-one/Events.json", stream(h)))
		}},
		{".jp/Conversations in a branch", func(f *fixture, h blobs.Hash) {
			f.Run("branch", "upper",
				f.commitFile(".jp/Conversations/17800000001-one/events.json", stream(h)))
		}},
		{"index of .jp/Conversations", func(f *fixture, h blobs.Hash) {
			id := f.RunInput(stream(h), "hash-object", "-w", "--stdin")
			f.Run("update-index", "--add", "--cacheinfo",
				"100644,"+id+",.jp/Conversations/17800000001-one/copy")
		}},
		{"index of .JP", func(f *fixture, h blobs.Hash) {
			id := f.RunInput(stream(h), "hash-object", "-w", "--stdin")
			f.Run("update-index", "--add", "--cacheinfo",
				"100644,"+id+",.JP/Conversations/17800000001-one/EVENTS.JSON")
		}},
		{"index of a split branch", func(f *fixture, h blobs.Hash) {
			f.converse("conversations/17800000001-one", h)
			f.Run("add", "conversations")
			f.Remove("conversations")
		}},
		{"packed ref", func(f *fixture, h blobs.Hash) {
			f.Run("branch", "other", f.commit(h))
			f.Run("pack-refs", "--all", "--prune")
		}},
		{"packed ref without a log", func(f *fixture, h blobs.Hash) {
			f.Run("update-ref", "refs/kept/one", f.commit(h))
			f.Run("pack-refs", "--all", "--prune")
			f.Run("commit", "-q", "--allow-empty", "-m", "the branch is loose again")
		}},
		{"pack", func(f *fixture, h blobs.Hash) {
			f.Run("branch", "other", f.commit(h))
			f.Run("repack", "-adq")
		}},
		{"commit graph", func(f *fixture, h blobs.Hash) {
			f.Run("branch", "other", f.commit(h))
			f.Run("repack", "-adq")
			f.Run("commit-graph", "write", "--reachable")
		}},
		{"index of several packs", func(f *fixture, h blobs.Hash) {
			f.Run("repack", "-adq")
			f.Run("branch", "other", f.commit(h))
			f.Run("repack", "-dq")
			f.Run("multi-pack-index", "write")
		}},
		{"older commit of a branch", func(f *fixture, h blobs.Hash) {
			tree := f.Run("rev-parse", "HEAD^{tree}")
			c := f.Run("commit-tree", "-m", "later", "-p", f.commit(h), tree)
			f.Run("branch", "other", c)
		}},
		{"commit before the one that brings the content", func(f *fixture, h blobs.Hash) {
			// The conversations of both are the same, and both are in history only.
			name := ".jp/blobs/" + h.Path()
			saved := f.ReadFile(name)
			f.converse(conversation, h)
			f.Run("add", conversation)
			f.Run("commit", "-q", "-m", "refers")
			f.Run("add", "--force", name)
			f.Run("commit", "-q", "-m", "brings")
			f.Run("rm", "-rq", conversation, name)
			f.Run("commit", "-q", "-m", "gone")
			f.restore(name, saved)
		}},
		{"replaced object", func(f *fixture, h blobs.Hash) {
			f.Run("update-ref", "refs/replace/"+f.commit(h), "HEAD")
		}},
		{"replacement", func(f *fixture, h blobs.Hash) {
			f.Run("update-ref", "refs/replace/"+f.Run("rev-parse", "HEAD"), f.commit(h))
		}},
		{"stash", func(f *fixture, h blobs.Hash) { f.stash(h) }},
		{"older stash", func(f *fixture, h blobs.Hash) {
			f.stash(h)
			f.WriteFile("readme", "other")
			f.Run("stash", "push", "-q")
		}},
		{"untracked files of a stash", func(f *fixture, h blobs.Hash) {
			f.converse(conversation, h)
			f.Run("stash", "push", "-q", "--include-untracked", "--", conversation)
		}},
		{"index of a stash", func(f *fixture, h blobs.Hash) {
			f.converse(conversation, h)
			f.Run("add", "-A", conversation)
			f.WriteFile(conversation+"/events.json", stream())
			f.Run("stash", "push", "-q")
		}},
		{"index of a stash, with its content", func(f *fixture, h blobs.Hash) {
			name := ".jp/blobs/" + h.Path()
			saved := f.ReadFile(name)
			f.converse(conversation, h)
			f.Run("add", "-A", "--force", conversation, name)
			f.WriteFile(conversation+"/events.json", stream())
			f.Run("stash", "push", "-q")
			f.restore(name, saved)
		}},
		{"reflog", func(f *fixture, h blobs.Hash) {
			head := f.Run("rev-parse", "HEAD")
			f.Run("update-ref", "-m", "there", "refs/heads/main", f.commit(h))
			f.Run("update-ref", "-m", "back", "refs/heads/main", head)
		}},
		{"what a branch was before its reflog", func(f *fixture, h blobs.Hash) {
			head := f.Run("rev-parse", "HEAD")
			f.WriteFile(".git/logs/refs/heads/main", f.commit(h)+" "+head+
				" Ada <a@b> 1 +0000\tx\n")
		}},
		{"rebase stopped half-way", func(f *fixture, h blobs.Hash) {
			f.half(h, func() error {
				_, err := f.Try("rebase", "other")
				return err
			})
		}},
		{"am stopped half-way", func(f *fixture, h blobs.Hash) {
			c := f.commit(h)
			patch := f.Run("format-patch", "--root", "-1", "--stdout", c)
			f.WriteFile("readme", "dirty")
			f.WriteFile(conversation+"/events.json", "[]\n")
			f.WriteFile("../patch", patch)
			if _, err := f.Try("am", f.Path("../patch")); err == nil {
				f.tb.Fatal("am did not stop")
			}
			f.Remove(conversation)
		}},
		{"mail that an am has not reached", func(f *fixture, h blobs.Hash) {
			c := f.commit(h)
			mail := f.mailOf(c, inPlainText)
			f.lose(c) // it belongs to another repository
			f.applyMails(mail)
		}},
		{"cherry-pick stopped half-way", func(f *fixture, h blobs.Hash) {
			f.half(h, func() error {
				_, err := f.Try("cherry-pick", "other")
				return err
			})
		}},
		{"merge whose branch is gone", func(f *fixture, h blobs.Hash) {
			f.half(h, func() error {
				_, err := f.Try("merge", "--allow-unrelated-histories", "other")
				return err
			})
		}},
		{"bisect", func(f *fixture, h blobs.Hash) {
			f.Run("branch", "other", f.commit(h))
			f.Run("bisect", "start")
			f.Run("bisect", "bad", "other")
			f.Run("branch", "-D", "other")
			f.Remove(".git/BISECT_LOG")
		}},
		{"shortened list of a rebase", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".git/rebase-merge/git-rebase-todo", "pick "+f.commit(h)[:10]+" x\n")
		}},
		{"commit to which a rebase goes back", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".git/rebase-merge/git-rebase-todo", "reset "+f.commit(h)[:10]+"\n")
		}},
		{"commit in a command of a rebase", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".git/rebase-merge/git-rebase-todo",
				"exec git checkout '"+f.commit(h)[:8]+"' -- .jp\n")
		}},
		{"packed commit in a command of a rebase", func(f *fixture, h blobs.Hash) {
			id := f.commit(h)
			// In a pack of its own, so that no other root is lost with it.
			f.RunInput(id+"\n", "pack-objects", "-q", ".git/objects/pack/pack")
			f.Run("prune-packed")
			f.WriteFile(".git/rebase-merge/git-rebase-todo", "exec git checkout "+id[:8]+" -- .jp\n")
		}},
		{"their side of an open conflict", func(f *fixture, h blobs.Hash) {
			f.conflict(merge.Record{Theirs: []byte(stream(h))})
		}},
		{"base of an open conflict", func(f *fixture, h blobs.Hash) {
			s, err := events.Decode([]byte(stream(h)))
			if err != nil {
				f.tb.Fatal(err)
			}
			var base []*events.Element
			for _, e := range s.All() {
				base = append(base, e)
			}
			f.conflict(merge.Record{Conflicts: []threeway.Conflict{{Base: base}}})
		}},
		{"open conflict in a form of the future", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".git/jp/conflicts/1.json", `{"sides": [`+stream(h)+`]}`)
		}},
		{"resolution that rerere remembers", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".git/rr-cache/"+strings.Repeat("1", 40)+"/postimage", stream(h))
		}},
		{"commit that fsck has found", func(f *fixture, h blobs.Hash) {
			f.commit(h)
			f.Run("fsck", "--lost-found")
			if _, err := os.Stat(f.Path(".git/lost-found/commit")); err != nil {
				f.tb.Fatal(err)
			}
		}},
		{"stream that fsck has found", func(f *fixture, h blobs.Hash) {
			f.RunInput(stream(h), "hash-object", "-w", "--stdin")
			f.Run("fsck", "--lost-found")
			f.Run("prune", "--expire=now")
		}},
		{"quarantined by repair", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".git/jp/trash/repair-1/events.json", stream(h))
		}},
		{"quarantined, with an entry named files", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".git/jp/trash/repair-1/events.json", stream(h))
			f.WriteFile(".git/jp/trash/repair-1/files/x", "")
		}},
		{"quarantined, in a directory named files", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".git/jp/trash/repair-1/.jp/conversations/1-x/files/events.json", stream(h))
		}},
		{"quarantined, beside a journal of another run", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".git/jp/trash/repair-1/run.json",
				`{"version":1,"run":"another","state":"done"}`)
			f.WriteFile(".git/jp/trash/repair-1/events.json", stream(h))
		}},
		{"quarantined, with a journal of the future", func(f *fixture, h blobs.Hash) {
			f.WriteFile(".git/jp/trash/1/run.json", `{"version":2,"run":"1","state":"done"}`)
			f.WriteFile(".git/jp/trash/1/wanted", h.String())
		}},
		{"quarantined, where the quarantine is a link", func(f *fixture, h blobs.Hash) {
			f.WriteFile("../away/repair-1/events.json", stream(h))
			f.WriteFile(".git/jp/x", "")
			if err := os.Symlink("../../../away", f.Path(".git/jp/trash")); err != nil {
				f.tb.Fatal(err)
			}
		}},
		{"quarantined among user-local copies", func(f *fixture, h blobs.Hash) {
			f.WriteFile("../data/workspace/repo-abcde/blobs/.tmp/trash/repair-1/events.json", stream(h))
		}},
		{"object in an alternate", func(f *fixture, h blobs.Hash) {
			c := f.commit(h)
			f.Run("clone", "-q", "--bare", ".", "../borrowed")
			f.Run("-C", "../borrowed", "fetch", "-q", f.Dir, c)
			f.WriteFile(".git/objects/info/alternates", "../../../borrowed/objects\n")
			f.Run("branch", "other", c)
			f.Run("repack", "-adlq")
			f.Run("prune-packed")
		}},
		{"carried by a pointer only", func(f *fixture, h blobs.Hash) {
			f.past(h, "version https://git-lfs.github.com/spec/v1\noid sha256:"+
				strings.Repeat("a", 64)+"\nsize 12\n")
		}},
		{"carried by an encrypted file only", func(f *fixture, h blobs.Hash) {
			f.past(h, "\x00GITCRYPT\x00"+strings.Repeat("secret", 400))
		}},
		{"carried by a damaged file only", func(f *fixture, h blobs.Hash) {
			f.past(h, f.ReadFile(".jp/blobs/"+h.Path())+"\r\n")
		}},
		{"damaged stream of the past", func(f *fixture, h blobs.Hash) {
			c := f.commitFile(conversation+"/events.json", "[ broken "+h.String())
			f.Run("branch", "other", f.Run("commit-tree", "-m", "x", "-p", c, "HEAD^{tree}"))
		}},
		{"stream with a kind of the future", func(f *fixture, h blobs.Hash) {
			f.converse(conversation)
			f.WriteFile(conversation+"/events.json",
				`[{"type":"novel","what":{"deep":[{"$blob":"`+h.String()+`"}]}}]`)
		}},
		{"duplicate names", func(f *fixture, h blobs.Hash) {
			f.Run("branch", "other", f.commitFile(conversation+"/events.json",
				strings.Replace(stream(h), `"id":"call_0","content"`,
					`"id":"call_0","content":[],"content"`, 1)))
		}},
	}
	rows = append(rows, homeRows()...)
	rows = append(rows, committingRows()...)
	rows = append(rows, notesRows()...)
	for _, name := range refNames {
		rows = append(rows, row{name, func(f *fixture, h blobs.Hash) {
			f.Run("update-ref", name, f.commit(h))
		}})
	}
	for _, name := range []string{"refs/bisect/bad", "refs/worktree/own", "refs/rewritten/x"} {
		rows = append(rows, row{name + " of another", func(f *fixture, h blobs.Hash) {
			f.Run("worktree", "add", "-q", "../linked")
			f.at("../linked").Run("update-ref", name, f.commit(h))
		}})
	}
	for _, name := range append(pseudoRefs, operationNames...) {
		write := func(dir string) func(f *fixture, h blobs.Hash) {
			return func(f *fixture, h blobs.Hash) {
				line := f.commit(h) + "\n"
				if strings.HasSuffix(name, "todo") {
					line = "pick " + line
				}
				if dir != ".git" {
					f.Run("worktree", "add", "-q", "../linked")
				}
				f.WriteFile(dir+"/"+name, line)
			}
		}
		rows = append(rows, row{name, write(".git")},
			row{name + " of another", write(".git/worktrees/linked")})
	}
	return rows
}

// conflict adds the record of an open conflict.
func (f *fixture) conflict(r merge.Record) {
	f.tb.Helper()
	r.Path, r.At = conversation+"/events.json", now
	if err := merge.RecordsOf(f.Path(".git")).Save(r); err != nil {
		f.tb.Fatal(err)
	}
}

// stash adds a conversation only to the stash.
func (f *fixture) stash(h blobs.Hash) {
	f.converse(conversation, h)
	f.Run("add", "-A", conversation)
	f.Run("stash", "push", "-q")
}

// half begins an operation that stops at a conflict, and removes every other name of its commits.
func (f *fixture) half(h blobs.Hash, stop func() error) {
	f.tb.Helper()
	other := f.commit(h)
	f.Run("branch", "other", other)
	f.converse(conversation)
	f.Commit("ours")
	if err := stop(); err == nil {
		f.tb.Fatal("the operation did not stop")
	}
	f.Run("update-ref", "-d", "refs/heads/other")
	f.Run("update-ref", "--no-deref", "-d", "AUTO_MERGE") // in any worktree
	for _, name := range []string{"index", "logs"} {
		f.Remove(".git/" + name)
	}
	f.Run("read-tree", "main")
	f.Remove(conversation + "/events.json")
	f.Run("checkout", "-q", "main", "--", conversation)
}

// past commits a conversation with a content of some bytes, and then deletes it.
func (f *fixture) past(h blobs.Hash, file string) {
	f.tb.Helper()
	name := ".jp/blobs/" + h.Path()
	saved := f.ReadFile(name)
	f.converse(conversation, h)
	f.WriteFile(name, file)
	f.Run("add", "-A", "--force", conversation, name)
	f.Run("commit", "-q", "-m", "there")
	f.Run("rm", "-rq", "--cached", conversation, name)
	f.Run("commit", "-q", "-m", "gone")
	f.Remove(conversation)
	f.restore(name, saved)
}

// restore writes a file of the store again, with an old time.
func (f *fixture) restore(name, data string) {
	f.tb.Helper()
	f.WriteFile(name, data)
	if err := os.Chtimes(f.Path(name), old, old); err != nil {
		f.tb.Fatal(err)
	}
}

// TestRootMatrix makes one content reachable only through each root, and checks that it is kept and
// that a dead one beside it is moved.
func TestRootMatrix(t *testing.T) {
	for _, row := range rows() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.hold(t, newFixture(t))
		})
	}
	t.Logf("%d roots", len(rows()))
}

// TestDead checks that contents whose blob is in history are not kept because of it, from wherever
// the commit is reachable: otherwise nothing would ever be collected.
func TestDead(t *testing.T) {
	for _, tt := range []row{
		{"never referred to", func(*fixture, blobs.Hash) {}},
		{"carried by the past", func(f *fixture, h blobs.Hash) {
			f.past(h, string(blobs.Encode([]byte("dead"))))
		}},
		{"carried by the past, and not referred to before", func(f *fixture, h blobs.Hash) {
			const other = ".jp/conversations/17800000002-two"
			f.converse(other)
			f.Run("add", other)
			f.Run("commit", "-q", "-m", "another one")
			f.Run("rm", "-rq", other)
			f.past(h, string(blobs.Encode([]byte("dead"))))
		}},
		{"carried by a tag", func(f *fixture, h blobs.Hash) {
			f.past(h, string(blobs.Encode([]byte("dead"))))
			f.Run("tag", "v1", "HEAD~1")
			f.Run("tag", "-a", "-m", "x", "v2", "HEAD~1")
		}},
		{"named in a note that was removed", func(f *fixture, h blobs.Hash) {
			f.note(h)
			f.Run("notes", "remove")
		}},
		{"named beside others in a file with a name of a note", func(f *fixture, h blobs.Hash) {
			c := f.commitFile(strings.Repeat("a", 40), h.String(), "readme", "x")
			f.Run("branch", "other", c)
		}},
		{"never referred to, in a job of Jenkins or GitLab", func(f *fixture, _ blobs.Hash) {
			f.Repository = f.With("GIT_BRANCH=x", "GIT_COMMIT=x", "GIT_URL=x", "GIT_STRATEGY=fetch",
				"GIT_PREVIOUS_COMMIT=x", "GIT_DEPTH=20", "GITHUB_SHA=x", "GITLAB_CI=1")
		}},
		{"never referred to, in a hook and an alias", func(f *fixture, _ blobs.Hash) {
			f.Repository = f.With("GIT_PREFIX=", "GIT_EDITOR=:", "GIT_REFLOG_ACTION=merge",
				"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c",
				"GIT_PUSH_OPTION_COUNT=0", "GIT_INTERNAL_GETTEXT_SH_SCHEME=gettext")
		}},
		{"never referred to, under an extension that changes nothing", func(f *fixture, _ blobs.Hash) {
			f.Run("config", "core.repositoryFormatVersion", "1")
			f.Run("config", "extensions.submodulePathConfig", "true")
			if _, err := f.Try("status"); err != nil {
				f.tb.Skip("this git does not know the extension")
			}
		}},
		{"carried by a split branch", func(f *fixture, h blobs.Hash) {
			f.past(h, string(blobs.Encode([]byte("dead"))))
			c := f.Run("commit-tree", "-m", "x", "HEAD~1:.jp")
			f.Run("branch", "split", f.Run("commit-tree", "-m", "x", "-p", c, "HEAD:.jp"))
		}},
		{"tracked and not referred to", func(f *fixture, h blobs.Hash) {
			f.Run("add", "--force", ".jp/blobs/"+h.Path())
			f.Run("commit", "-q", "-m", "x")
		}},
		{"beginning of a hash", func(f *fixture, h blobs.Hash) {
			f.WriteFile(conversation+"/note.md", h.String()[:63]+" "+h.String()+"0")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			h := f.blob("dead")
			tt.make(f, h)
			if _, err := f.collect(); err != nil {
				t.Fatal(err)
			}
			if f.has(h) {
				t.Error("it is still there")
			}
			if out := f.Run("ls-files", "--", filepath.Join(".jp", "blobs")); out != "" {
				t.Errorf("the index still has %s", out)
			}
		})
	}
}
