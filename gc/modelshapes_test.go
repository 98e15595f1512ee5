package gc_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gc"
)

// Operations of the model with unusual shapes: names of trees, moved working trees, nested
// repositories, mails, copies by other users, and unreadable files. The collector may refuse, but
// must keep what is wanted.

// attempt collects in a working tree, which may be refused. Nothing wanted is deleted.
func (m *world) attempt(t *mtree, collect func(f *fixture) error) error {
	m.tb.Helper()
	wanted := m.wanted()
	err := collect(t.fixture)
	if _, again := gc.Recover(m.tb.Context(), t.options()); again != nil {
		m.tb.Fatalf("recovering: %v, after %v", again, err)
	}
	staged := t.Run("ls-files", "--", ".jp/blobs")
	for c := range t.work.blobs {
		h := hashOf(c)
		if !t.has(h) {
			if wanted[c] {
				m.tb.Fatalf("content %d was deleted in %s, and is wanted (%v)", c, t.Dir, err)
			}
			m.deleted++
			delete(t.work.blobs, c)
		}
		if !strings.Contains(staged, h.Path()) {
			delete(t.index.blobs, c)
		}
	}
	m.back(t, wanted)
	if err != nil {
		m.refused++
	}
	return err
}

// astray reports whether git does not know the path of some working tree.
func (m *world) astray() bool {
	return slices.ContainsFunc(m.linked, func(t *mtree) bool { return t.astray })
}

// sweep collects in the main worktree.
func (m *world) sweep(a, _ int) {
	if !m.astray() {
		m.collect(a%4 == 0)
		return
	}
	_ = m.attempt(m.main, (*fixture).collectAll)
}

// sweepThere collects in another worktree, which has a store of its own.
func (m *world) sweepThere(a, _ int) {
	t, ok := choose(m.linked, a)
	if !ok {
		return
	}
	if err := m.attempt(t, (*fixture).collectAll); err != nil && !m.astray() {
		m.tb.Fatalf("refused in %s: %v", t.Dir, err)
	}
}

// sweepDamaged collects while a file of the repository, or of a working tree, is damaged.
func (m *world) sweepDamaged(a, b int) {
	d := fileDamages[b%len(fileDamages)]
	top := filepath.Dir(m.main.Dir)
	file, ok := choose(m.files(b%2 == 0), a)
	if !ok || isUnseen(strings.TrimPrefix(file, top+"/"), d.name) {
		return
	}
	f := *m.main.fixture
	_ = m.attempt(m.main, func(*fixture) error { return d.during(&f, file) })
}

// files lists the files that the collector may read, with or without objects.
func (m *world) files(objects bool) []string {
	m.tb.Helper()
	var all []string
	err := filepath.WalkDir(filepath.Dir(m.main.Dir), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"hooks", "blobs", "peer.git", "jp"}, d.Name()),
			d.IsDir() && d.Name() == "objects" && !objects:
			return fs.SkipDir
		case d.Type().IsRegular():
			all = append(all, name)
		}
		return nil
	})
	if err != nil {
		m.tb.Fatal(err)
	}
	return all
}

// nameTree creates a ref to a tree at or below .jp, or to a commit of it as git subtree split makes
// them.
func (m *world) nameTree(a, b int) {
	t := m.main
	head := m.commits[t.head].side
	conv, ok := choose(keys(head.convs), b/4)
	name := fmt.Sprintf("refs/%s/tree-%d", []string{"kept", "tags"}[a%2], a%3)
	if _, taken := m.extra[name]; !ok || taken {
		return
	}
	s := newSide()
	s.convs = head.clone().convs
	rev := "HEAD:.jp"
	switch b % 4 {
	case 1:
		rev += "/conversations"
	case 2:
		rev += "/conversations/" + conv
		s.convs = map[string][]int{conv: head.convs[conv]}
	case 3:
		if a%2 == 1 {
			return // for a tag only history without the blob counts
		}
		rev = t.Run("commit-tree", "-m", "split", rev)
	}
	t.Run("update-ref", name, t.Run("rev-parse", rev))
	m.extra[name] = s
}

func (m *world) dropTreeName(a, _ int) {
	name, ok := choose(m.extras("refs/"), a)
	if ok {
		m.main.Run("update-ref", "-d", name)
		delete(m.extra, name)
	}
}

// extras lists the further roots with a prefix.
func (m *world) extras(prefix string) []string {
	return slices.DeleteFunc(keys(m.extra), func(name string) bool {
		return !strings.HasPrefix(name, prefix)
	})
}

const userStorage = "../data/workspace/"

// copyLocally creates the user-local copy of a conversation, for one of several checkouts.
func (m *world) copyLocally(a, b int) {
	t := m.main
	conv, ok := choose(keys(t.work.convs), a)
	if !ok {
		return
	}
	name := fmt.Sprintf("%s%s-abcde/conversations/%s", userStorage, []string{"repo", "other"}[b%2],
		filepath.Base(conv))
	t.WriteFile(name+"/events.json", streamOf(t.work.convs[conv]))
	m.extra[name] = side{convs: map[string][]int{conv: t.work.convs[conv]}}
	m.refers(m.extra[name])
	m.reopen()
}

func (m *world) dropLocalCopy(a, _ int) {
	if name, ok := choose(m.extras(userStorage), a); ok {
		m.main.Remove(name)
		delete(m.extra, name)
	}
}

// moveTree moves a working tree, and lets git know or not.
func (m *world) moveTree(a, b int) {
	t, ok := choose(m.linked, a)
	if !ok || t.astray {
		return
	}
	m.made++
	from, to := t.Dir, m.main.Path(fmt.Sprintf("../moved%d", m.made))
	if err := os.Rename(from, to); err != nil {
		m.tb.Fatal(err)
	}
	t.Repository, t.astray = t.In(to), true
	if b%2 == 0 {
		m.repairTree(0, 0)
	}
}

// repairTree runs git worktree repair.
func (m *world) repairTree(_, _ int) {
	for _, t := range m.linked {
		if t.astray {
			m.main.Run("worktree", "repair", t.Dir)
			t.astray = false
		}
	}
}

// lone writes a content to which only a root refers that the caller is about to create under the
// name.
func (m *world) lone(name string) (c int) {
	c = m.fresh()
	m.main.blob(string(contentOf(c)))
	m.main.work.blobs[c] = true
	m.extra[name] = side{convs: map[string][]int{name: {c}}}
	m.ever[c] = true
	return c
}

// sweepAroundNested collects while .jp is a repository of its own, with a conversation on a branch
// that is not checked out; or while another repository is in the working tree.
func (m *world) sweepAroundNested(_, b int) {
	t := m.main
	dir := ".jp"
	if b%3 == 2 {
		dir = "other"
	}
	args := []string{"init", "-q", "-b", "main"}
	if b%3 == 1 {
		t.WriteFile(".git/modules/README", "")
		args = append(args, "--separate-git-dir", t.Path(".git/modules/nested"))
	}
	c := m.lone("nested")
	t.Run(append(args, dir)...)
	in := t.In(dir)
	const file = "conversations/17800990000-nested/events.json"
	in.WriteFile(file, streamOf([]int{c}))
	in.Run("add", "--", file)
	in.Run("commit", "-q", "-m", "x")
	if dir == ".jp" {
		in.Run("checkout", "-q", "--orphan", "empty")
		in.Run("rm", "-rqf", "--", file)
	} else {
		in.WriteFile(".jp/blobs/"+hashOf(c).Path(), "theirs")
		delete(m.extra, "nested") // it has a store of its own
	}
	_ = m.attempt(t, (*fixture).collectAll)
	if _, err := os.Stat(in.Path(".jp/blobs/" + hashOf(c).Path())); dir != ".jp" && err != nil {
		m.tb.Fatalf("a content of another repository is gone: %v", err)
	}
	for _, name := range []string{dir + "/.git", ".git/modules", "other"} {
		t.Remove(name)
	}
	delete(m.extra, "nested")
}

// sweepAroundMail collects while git am has stopped before a mail with a conversation.
func (m *world) sweepAroundMail(_, b int) {
	t := m.main
	if _, err := os.Stat(t.Path(".git/rebase-apply")); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	c := m.lone("mail")
	const file = ".jp/conversations/17800980000-mail/events.json"
	commit := t.commitFile(file, streamOf([]int{c}))
	mail := t.mailOf(commit, mailForm(b)%mailForms)
	t.lose(commit + ":" + file) // it belongs to another repository
	t.lose(commit)
	t.applyMails(mail)
	_ = m.attempt(t, (*fixture).collectAll)
	t.Remove(".git/rebase-apply")
	delete(m.extra, "mail")
}

// sweepAroundOthers collects while another user has a conversation that nobody else can read: its
// file, its directory, or the directory of all of them.
func (m *world) sweepAroundOthers(_, b int) {
	t := m.main
	c := m.lone("of another user")
	const dir = ".jp/conversations/17800970000-other"
	t.WriteFile(dir+"/events.json", streamOf([]int{c}))
	closed := []string{dir + "/events.json", dir, ".jp/conversations"}[b%3]
	err := m.attempt(t, func(f *fixture) error { return f.whileClosed(f.Path(closed)) })
	if err == nil {
		m.tb.Fatalf("not refused while %s is closed", closed)
	}
	t.Remove(dir)
	delete(m.extra, "of another user")
}
