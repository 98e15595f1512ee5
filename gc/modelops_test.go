package gc_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
)

// An op is one operation of a history. Its numbers select among what exists, so that a shortened
// history is still valid.
type op struct {
	kind string
	a, b int
}

func (o op) String() string { return fmt.Sprintf("%s %d %d", o.kind, o.a, o.b) }

// ops are the kinds of operations and their frequency.
var ops = []struct {
	kind  string
	often int
	do    func(m *world, a, b int)
}{
	{"write", 30, (*world).write},
	{"cut", 12, (*world).cut},
	{"move", 4, (*world).move},
	{"remove", 6, (*world).remove},
	{"stage", 10, (*world).stage},
	{"commit", 22, (*world).commit},
	{"partial", 6, (*world).partial},
	{"branch", 6, (*world).branch},
	{"drop-branch", 4, (*world).dropBranch},
	{"switch", 8, (*world).change},
	{"merge", 6, (*world).merge},
	{"pick", 4, (*world).pick},
	{"rebase", 2, (*world).rebase},
	{"stash", 4, (*world).push},
	{"pop", 4, (*world).pop},
	{"reset", 4, (*world).reset},
	{"tag", 3, (*world).tag},
	{"untag", 2, (*world).untag},
	{"fetch", 2, (*world).fetch},
	{"prune-remote", 1, (*world).pruneRemote},
	{"add-tree", 2, (*world).addTree},
	{"write-there", 4, (*world).writeThere},
	{"commit-there", 3, (*world).commitThere},
	{"drop-tree", 1, (*world).dropTree},
	{"pack", 1, (*world).pack},
	{"gc", 12, (*world).sweep},
	{"gc-there", 2, (*world).sweepThere},
	{"gc-damaged", 3, (*world).sweepDamaged},
	{"gc-nested", 1, (*world).sweepAroundNested},
	{"gc-mail", 1, (*world).sweepAroundMail},
	{"gc-others", 1, (*world).sweepAroundOthers},
	{"name-tree", 2, (*world).nameTree},
	{"drop-tree-name", 1, (*world).dropTreeName},
	{"copy", 2, (*world).copyLocally},
	{"drop-copy", 1, (*world).dropLocalCopy},
	{"move-tree", 1, (*world).moveTree},
	{"repair-tree", 2, (*world).repairTree},
}

// choose returns one of several, and whether there are any.
func choose[T any](all []T, n int) (one T, ok bool) {
	if len(all) == 0 {
		return one, false
	}
	return all[n%len(all)], true
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// put writes a conversation and its contents, contents first.
func (m *world) put(t *mtree, name string, list []int) {
	m.tb.Helper()
	for _, c := range list {
		if !t.work.blobs[c] {
			t.blob(string(contentOf(c)))
			t.work.blobs[c] = true
		}
	}
	m.rewrite(t, name, list)
}

func (m *world) rewrite(t *mtree, name string, list []int) {
	at := ".jp/conversations/" + name
	t.WriteFile(at+"/metadata.json", "{}\n")
	t.WriteFile(at+"/base_config.json", "{}\n")
	t.WriteFile(at+"/events.json", streamOf(list))
	t.work.convs[name] = list
}

func (m *world) fresh() int {
	m.content++
	return m.content - 1
}

// grow appends to a conversation, or begins one. A content may be an earlier one.
func (m *world) grow(t *mtree, a, b int) {
	names := keys(t.work.convs)
	name, ok := choose(names, a)
	if !ok || a%4 == 0 {
		m.made++
		name = fmt.Sprintf("1780000%04d-x", m.made)
	}
	c := m.fresh()
	if b%3 == 0 && c > 0 {
		c = b % c
	}
	if list := t.work.convs[name]; !slices.Contains(list, c) {
		list = append(slices.Clone(list), c)
		slices.Sort(list) // in the order of a reading
		m.put(t, name, list)
	}
}

func (m *world) write(a, b int) { m.grow(m.main, a, b) }

// cut removes turns, as compaction in place does.
func (m *world) cut(a, b int) {
	name, ok := choose(keys(m.main.work.convs), a)
	list := m.main.work.convs[name]
	if ok && len(list) > 0 {
		m.rewrite(m.main, name, slices.Clone(list[b%len(list)+1:]))
	}
}

// move archives or unarchives a conversation.
func (m *world) move(a, _ int) {
	name, ok := choose(keys(m.main.work.convs), a)
	if !ok {
		return
	}
	to := ".archive/" + name
	if rest, archived := strings.CutPrefix(name, ".archive/"); archived {
		to = rest
	}
	if _, taken := m.main.work.convs[to]; taken {
		return
	}
	base := m.main.Path(".jp/conversations")
	err := os.MkdirAll(filepath.Dir(filepath.Join(base, to)), 0o755)
	if err == nil {
		err = os.Rename(filepath.Join(base, name), filepath.Join(base, to))
	}
	if err != nil {
		m.tb.Fatal(err)
	}
	m.main.work.convs[to] = m.main.work.convs[name]
	delete(m.main.work.convs, name)
}

func (m *world) remove(a, _ int) {
	if name, ok := choose(keys(m.main.work.convs), a); ok {
		m.main.Remove(".jp/conversations/" + name)
		delete(m.main.work.convs, name)
	}
}

func (m *world) stage(_, _ int) { m.stageAll(m.main) }

func (m *world) stageAll(t *mtree) {
	t.Run("add", "-A", ".jp")
	t.index = t.work.clone()
}

// record adds a commit that git made to the model.
func (m *world) record(t *mtree, s side, parents ...string) {
	id := t.Run("rev-parse", "HEAD")
	m.commits[id] = mcommit{s.clone(), parents}
	t.head = id
	if t.branch != "" {
		m.heads[t.branch] = id
	}
	m.refers(s)
}

// refers records the references of a commit.
func (m *world) refers(s side) {
	for _, list := range s.convs {
		for _, c := range list {
			m.ever[c] = true
		}
	}
}

func (m *world) commit(_, _ int) { m.commitAll(m.main) }

func (m *world) commitAll(t *mtree) {
	m.stageAll(t)
	if t.index.equal(m.commits[t.head].side) {
		return
	}
	was := t.head
	t.Run("commit", "-q", "-m", "x")
	m.record(t, t.index, was)
}

// partial commits a conversation without its contents.
func (m *world) partial(a, _ int) {
	t := m.main
	name, ok := choose(keys(t.work.convs), a)
	head := m.commits[t.head].side
	was, known := head.convs[name]
	if !ok || known && slices.Equal(was, t.work.convs[name]) {
		return
	}
	at := ".jp/conversations/" + name
	t.Run("add", "-A", "--", at)
	t.Run("commit", "-q", "-m", "x", "--", at)
	s := head.clone()
	s.convs[name] = t.work.convs[name]
	t.index.convs[name] = t.work.convs[name]
	m.record(t, s, t.head)
}

func (m *world) branch(a, _ int) {
	name := fmt.Sprintf("b%d", a%7)
	if _, taken := m.heads[name]; !taken {
		m.main.Run("branch", name)
		m.heads[name] = m.main.head
	}
}

func (m *world) dropBranch(a, _ int) {
	name, ok := choose(keys(m.heads), a)
	if ok && name != m.main.branch {
		m.main.Run("branch", "-q", "-D", name)
		delete(m.heads, name)
	}
}

// goTo applies a switch in a clean working tree: files of the old tree are removed, those of the
// new one added, and untracked ones kept.
func (t *mtree) goTo(tracked, to side) {
	for name := range tracked.convs {
		delete(t.work.convs, name)
	}
	for c := range tracked.blobs {
		delete(t.work.blobs, c)
	}
	maps.Copy(t.work.convs, to.convs)
	maps.Copy(t.work.blobs, to.blobs)
	t.index = to.clone()
}

// aged sets the old time of every blob again, since git rewrites files.
func (m *world) aged() {
	for c := range m.main.work.blobs {
		_ = os.Chtimes(m.main.Path(".jp/blobs/"+hashOf(c).Path()), old, old)
	}
}

func (m *world) change(a, _ int) {
	name, ok := choose(keys(m.heads), a)
	t := m.main
	if !ok || name == t.branch || !t.clean(m) {
		return
	}
	if _, err := t.Try("switch", "-q", name); err != nil {
		return // an untracked file blocks it
	}
	from := m.commits[t.head].side
	t.branch, t.head = name, m.heads[name]
	t.goTo(from, m.commits[t.head].side)
	m.aged()
}

func (m *world) isAncestor(old, new string) bool {
	if old == new {
		return true
	}
	return slices.ContainsFunc(m.commits[new].parents, func(p string) bool {
		return m.isAncestor(old, p)
	})
}

func (m *world) merge(a, _ int) {
	name, ok := choose(keys(m.heads), a)
	t := m.main
	if !ok || !t.clean(m) {
		return
	}
	other, was := m.heads[name], t.head
	if _, err := t.Try("merge", "-q", "-X", "ours", "-m", "x", name); err != nil {
		t.abort("merge")
		return
	}
	from := m.commits[was].side
	switch {
	case m.isAncestor(other, was):
		return
	case m.isAncestor(was, other):
		m.record(t, m.commits[other].side, m.commits[other].parents...)
	default:
		m.record(t, m.inCommit("HEAD"), was, other)
	}
	t.goTo(from, m.commits[t.head].side)
	m.aged()
}

func (t *mtree) tryRun(args ...string) string {
	out, _ := t.Try(args...)
	return out
}

func (t *mtree) abort(what string) { _, _ = t.Try(what, "--abort") }

// inCommit reads a tree from git: only git knows the result of a merge.
func (m *world) inCommit(rev string) side {
	s := newSide()
	for line := range strings.Lines(m.main.Run("ls-tree", "-r", rev, ".jp")) {
		head, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if rest, ok := strings.CutPrefix(name, ".jp/blobs/"); ok {
			if h, ok := blobs.ParsePath(rest); ok {
				for c := range m.content {
					if hashOf(c) == h {
						s.blobs[c] = true
					}
				}
			}
			continue
		}
		if dir, ok := strings.CutSuffix(name, "/events.json"); ok {
			data := m.main.Run("cat-file", "blob", strings.Fields(head)[2])
			list := []int{}
			for c := range m.content {
				if strings.Contains(data, hashOf(c).String()) {
					list = append(list, c)
				}
			}
			s.convs[strings.TrimPrefix(dir, ".jp/conversations/")] = list
		}
	}
	return s
}

func (m *world) pick(a, _ int) {
	t := m.main
	id, ok := choose(keys(m.commits), a)
	if !ok || !t.clean(m) || len(m.commits[id].parents) != 1 {
		return
	}
	if _, known := m.commits[m.commits[id].parents[0]]; !known {
		return
	}
	if _, err := t.Try("cat-file", "-e", id); err != nil {
		return // git has collected it
	}
	was := t.head
	if _, err := t.Try("cherry-pick", "-X", "ours", "--allow-empty", id); err != nil {
		t.abort("cherry-pick")
		if _, err := t.Try("rev-parse", "-q", "--verify", "CHERRY_PICK_HEAD"); err == nil {
			t.Run("cherry-pick", "--skip")
		}
		return
	}
	from := m.commits[was].side
	m.record(t, m.inCommit("HEAD"), was)
	t.goTo(from, m.commits[t.head].side)
	m.aged()
}

func (m *world) rebase(a, _ int) {
	t := m.main
	name, ok := choose(keys(m.heads), a)
	if !ok || name == t.branch || !t.clean(m) {
		return
	}
	was := t.head
	if _, err := t.Try("rebase", "-q", "-X", "ours", name); err != nil {
		t.abort("rebase")
		return
	}
	for _, line := range slices.Backward(strings.Split(
		t.Run("rev-list", "--parents", "HEAD"), "\n")) {
		ids := strings.Fields(line)
		if _, known := m.commits[ids[0]]; known {
			continue
		}
		s := m.inCommit(ids[0])
		m.commits[ids[0]] = mcommit{s, ids[1:]}
		m.refers(s)
	}
	t.head = t.Run("rev-parse", "HEAD")
	m.heads[t.branch] = t.head
	t.goTo(m.commits[was].side, m.commits[t.head].side)
	m.aged()
}

func (m *world) push(_, _ int) {
	t := m.main
	head := m.commits[t.head].side
	if t.work.equal(head) && t.index.equal(head) {
		return
	}
	// An error can follow after everything was stashed, when nothing is left to undo.
	_, _ = t.Try("stash", "push", "-q", "--include-untracked", "--", ".jp")
	added := fmt.Sprintf("stash@{%d}", len(m.stash))
	if t.tryRun("rev-parse", "-q", "--verify", added) == "" {
		// git had nothing to stash, or stashed the same within a second, which gives one commit and
		// one entry: working tree and index have changed nevertheless.
		t.work = m.read(t)
		m.stageAll(t)
		return
	}
	// Only git knows what it takes from an index that differs from both.
	s := m.inCommit("stash@{0}")
	if _, err := t.Try("rev-parse", "-q", "--verify", "stash@{0}^3"); err == nil {
		untracked := m.inCommit("stash@{0}^3")
		maps.Copy(s.convs, untracked.convs)
		maps.Copy(s.blobs, untracked.blobs)
	}
	m.stash = append(m.stash, stashed{t.head, s})
	for _, rev := range []string{"stash@{0}", "stash@{0}^2", "stash@{0}^3"} {
		if _, err := t.Try("rev-parse", "-q", "--verify", rev); err == nil {
			m.refers(m.inCommit(rev))
		}
	}
	t.work = m.read(t)
	m.stageAll(t)
	m.aged()
}

func (m *world) pop(_, b int) {
	t := m.main
	if len(m.stash) == 0 {
		return
	}
	last := m.stash[len(m.stash)-1]
	head := m.commits[t.head].side
	if b%3 == 0 || last.head != t.head || !t.work.equal(head) || !t.index.equal(head) {
		t.Run("stash", "drop", "-q")
		m.stash = m.stash[:len(m.stash)-1]
		return
	}
	m.stash = m.stash[:len(m.stash)-1]
	if _, err := t.Try("stash", "pop", "-q"); err != nil {
		// Files untracked then may be tracked now; the operation that git began continues.
		t.Run("reset", "-q", "--hard")
		t.Run("stash", "drop", "-q")
	}
	t.work = m.read(t)
	m.stageAll(t)
	m.aged()
}

func (m *world) reset(a, b int) {
	t := m.main
	id, ok := choose(keys(m.heads), a)
	if !ok {
		return
	}
	to := m.heads[id]
	if p := m.commits[to].parents; len(p) > 0 && b%2 == 0 {
		to = p[0]
	}
	if b%3 == 0 {
		t.Run("reset", "-q", "--soft", to)
	} else {
		t.Run("reset", "-q", "--hard", to)
		t.goTo(t.index, m.commits[to].side)
		m.aged()
	}
	t.head = to
	m.heads[t.branch] = to
}

func (m *world) tag(a, _ int) {
	name := fmt.Sprintf("refs/tags/t%d", a%5)
	if _, taken := m.names[name]; !taken {
		m.main.Run("tag", strings.TrimPrefix(name, "refs/tags/"))
		m.names[name] = m.main.head
	}
}

func (m *world) untag(a, _ int) {
	if name, ok := choose(m.named("refs/tags/"), a); ok {
		m.main.Run("tag", "-d", strings.TrimPrefix(name, "refs/tags/"))
		delete(m.names, name)
	}
}

func (m *world) named(prefix string) []string {
	return slices.DeleteFunc(keys(m.names), func(name string) bool {
		return !strings.HasPrefix(name, prefix)
	})
}

// fetch commits in another clone onto a branch, with or without contents, and fetches that.
func (m *world) fetch(a, b int) {
	t := m.main
	name, ok := choose(keys(m.heads), a)
	if !ok {
		return
	}
	peer := t.Path("../peer.git")
	if _, err := os.Stat(peer); err != nil {
		t.Run("init", "-q", "--bare", peer)
	}
	t.Run("push", "-q", "--force", peer, name+":refs/heads/"+name)
	was := m.heads[name]
	s := m.commits[was].clone()
	m.made++
	conv, c := fmt.Sprintf("1780000%04d-peer", m.made), m.fresh()
	s.convs[conv] = []int{c}
	var in strings.Builder
	fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter Ada <a@b> 1 +0000\ndata 1\nx\nfrom %s\n",
		name, was)
	file := func(path, data string) {
		fmt.Fprintf(&in, "M 100644 inline .jp/%s\ndata %d\n%s\n", path, len(data), data)
	}
	file("conversations/"+conv+"/events.json", streamOf(s.convs[conv]))
	file("conversations/"+conv+"/metadata.json", "{}\n")
	file("conversations/"+conv+"/base_config.json", "{}\n")
	if b%2 == 0 {
		s.blobs[c] = true
		file("blobs/"+hashOf(c).Path(), string(blobs.Encode(contentOf(c))))
	}
	t.In(peer).RunInput(in.String(), "fast-import", "--quiet", "--force")
	t.Run("fetch", "-q", peer, "+refs/heads/*:refs/remotes/peer/*")
	ref := "refs/remotes/peer/" + name
	id := t.Run("rev-parse", ref)
	m.commits[id] = mcommit{s, []string{was}}
	m.ever[c] = true
	m.names[ref] = id
}

func (m *world) pruneRemote(a, _ int) {
	if name, ok := choose(m.named("refs/remotes/"), a); ok {
		m.main.Run("update-ref", "-d", name)
		m.main.In(m.main.Path("../peer.git")).Run("update-ref", "-d",
			"refs/heads/"+strings.TrimPrefix(name, "refs/remotes/peer/"))
		delete(m.names, name)
	}
}

func (m *world) addTree(_, _ int) {
	if len(m.linked) >= 2 {
		return
	}
	m.made++
	dir := fmt.Sprintf("../linked%d", m.made)
	m.main.Run("worktree", "add", "-q", "--detach", dir)
	s := m.commits[m.main.head].side
	m.linked = append(m.linked, &mtree{
		fixture: m.main.at(dir), head: m.main.head, index: s.clone(), work: s.clone(),
	})
}

func (m *world) writeThere(a, b int) {
	if t, ok := choose(m.linked, a); ok {
		m.grow(t, a/2, b)
		if b%2 == 0 {
			m.stageAll(t)
		}
	}
}

func (m *world) commitThere(a, _ int) {
	if t, ok := choose(m.linked, a); ok {
		m.commitAll(t)
	}
}

func (m *world) dropTree(a, _ int) {
	t, ok := choose(m.linked, a)
	if !ok {
		return
	}
	m.repairTree(0, 0)
	m.main.Run("worktree", "remove", "--force", t.Dir)
	m.linked = slices.DeleteFunc(m.linked, func(o *mtree) bool { return o == t })
}

// pack runs git gc, sometimes including objects that only reflogs have.
func (m *world) pack(a, _ int) {
	if a%2 == 0 {
		args := []string{"reflog", "expire", "--expire=now", "HEAD"}
		for _, name := range keys(m.heads) {
			args = append(args, "refs/heads/"+name)
		}
		m.main.Run(args...)
	}
	m.main.Run("gc", "-q", "--prune=now")
}
