package gitint_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// An opener is a test, or one check of a property.
type opener interface {
	rapid.TB
	Context() context.Context
	Cleanup(f func())
}

// open opens the repository of r.Dir.
func open(tb opener, r *gittest.Repository) *gitint.Repo {
	tb.Helper()
	repo, err := gitint.Open(tb.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := repo.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return repo
}

// oracle asks git the same questions as the package. It sees objects as they are stored, as the
// package does.
type oracle struct {
	tb   testing.TB
	r    *gittest.Repository
	seen map[string]bool // what was compared already
	told *catFile
}

// first reports whether something is compared for the first time.
func (o oracle) first(what string) bool {
	was := o.seen[what]
	o.seen[what] = true
	return !was
}

func newOracle(tb testing.TB, r *gittest.Repository) oracle {
	env := []string{"GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=none"}
	r = r.With(env...)
	return oracle{tb, r, map[string]bool{}, &catFile{tb: tb, r: r}}
}

// compare asks the package and git the same questions.
func (o oracle) compare(repo *gitint.Repo) {
	o.tb.Helper()
	o.location(repo)
	o.head(repo)
	o.refs(repo)
	o.index(repo)
	o.objects(repo)
	o.commits(repo)
}

func (o oracle) location(repo *gitint.Repo) {
	o.tb.Helper()
	abs := []string{"rev-parse", "--path-format=absolute"}
	root, err := o.r.Try(append(abs, "--show-toplevel")...)
	if err != nil {
		root = ""
	}
	got := []string{
		repo.GitDir(), repo.CommonDir(), repo.IndexPath(), fmt.Sprint(repo.Bare()), repo.ObjectFormat(),
	}
	o.same("root", root, repo.Root())
	want := o.r.Run(append(abs, "--git-dir", "--git-common-dir", "--git-path", "index",
		"--is-bare-repository", "--show-object-format")...)
	o.same("location", want, strings.Join(got, "\n"))
}

func (o oracle) head(repo *gitint.Repo) {
	o.tb.Helper()
	head, err := repo.Head(o.tb.Context())
	if err != nil {
		o.tb.Error(err)
		return
	}
	target, _ := o.r.Try("symbolic-ref", "--quiet", "HEAD")
	id, _ := o.r.Try("rev-parse", "--verify", "--quiet", "HEAD")
	got := ""
	if !head.OID.IsZero() {
		got = head.OID.String()
	}
	o.same("HEAD", []string{target, id}, []string{head.Target, got})

	commit, err := repo.Resolve(o.tb.Context(), "HEAD")
	switch {
	case id == "" && !errors.Is(err, gitint.ErrUnknownRevision):
		o.tb.Errorf("Resolve(HEAD) without a commit: %v, %v", commit, err)
	case id != "" && (err != nil || commit.String() != id):
		o.tb.Errorf("Resolve(HEAD) = %v, %v; want %s", commit, err, id)
	}

	treeID := ""
	if tree, err := repo.Tree(o.tb.Context(), "HEAD"); err == nil {
		treeID = tree.ID().String()
	}
	want, _, _ := o.told.ask("HEAD^{tree}")
	o.same("tree of HEAD", want, treeID)
}

// refs also compares the tree of every ref that has one.
func (o oracle) refs(repo *gitint.Repo) {
	o.tb.Helper()
	refs, err := repo.Refs(o.tb.Context())
	if err != nil {
		o.tb.Errorf("refs: %v", err)
		return
	}
	got := make([]string, 0, len(refs))
	for _, ref := range refs {
		peeled := ""
		if !ref.Peeled.IsZero() {
			peeled = ref.Peeled.String()
		}
		line := []string{ref.OID.String(), ref.Name, ref.Target, peeled}
		got = append(got, strings.Join(line, " "))
	}
	var want []string
	list := o.r.Run("for-each-ref", "--format=%(objectname) %(refname) %(symref)")
	for line := range strings.Lines(list) {
		line = strings.TrimSuffix(line, "\n")
		peeled, _, _ := o.told.ask(strings.Fields(line)[0] + "^{}")
		want = append(want, line+" "+peeled)
	}
	slices.SortFunc(want, func(a, b string) int {
		return strings.Compare(strings.Fields(a)[1], strings.Fields(b)[1])
	})
	o.same("refs", want, got)
	for _, ref := range refs {
		if o.first(ref.OID.String()) {
			o.tree(repo, ref.OID.String())
		}
	}
}

func (o oracle) tree(repo *gitint.Repo, rev string) {
	o.tb.Helper()
	id, _, ok := o.told.ask(rev + "^{tree}")
	tree, gotErr := repo.Tree(o.tb.Context(), rev)
	if !ok {
		if gotErr == nil {
			o.tb.Errorf("tree of %s: git has none, we have %s", rev, tree.ID())
		}
		return
	}
	if gotErr != nil {
		o.tb.Errorf("tree of %s: %v", rev, gotErr)
		return
	}
	want := o.fields("ls-tree", "-r", "-z", "--full-tree", id)
	o.snapshot(tree, want)
}

// snapshot compares the entries with lines "<mode> <kind> <id> TAB <path>", and the results of OID
// and ReadFile for each.
func (o oracle) snapshot(s gitint.Snapshot, want []string) {
	o.tb.Helper()
	entries, err := s.Entries(".")
	if err != nil {
		o.tb.Errorf("entries of %s: %v", s.Name(), err)
		return
	}
	var got []string
	for _, e := range entries {
		kind := "blob"
		if e.Mode == gitint.ModeSubmodule {
			kind = "commit"
		}
		got = append(got, fmt.Sprintf("%06o %s %s\t%s", uint32(e.Mode), kind, e.OID, e.Path))
		if id, ok := s.OID(e.Path); !ok || id != e.OID {
			o.tb.Errorf("OID(%q) of %s = %v, %v; want %v", e.Path, s.Name(), id, ok, e.OID)
		}
		o.content(s, e)
	}
	o.same("entries of "+s.Name(), want, got)
}

func (o oracle) content(s gitint.Snapshot, e gitint.Entry) {
	o.tb.Helper()
	data, err := s.ReadFile(e.Path)
	if !e.Mode.IsRegular() {
		if err == nil {
			o.tb.Errorf("ReadFile(%q) of mode %o is no error", e.Path, uint32(e.Mode))
		}
		return
	}
	if !o.first(e.OID.String()) {
		return
	}
	_, want, ok := o.told.ask(e.OID.String())
	if !ok {
		if !errors.Is(err, fs.ErrNotExist) {
			o.tb.Errorf("ReadFile(%q): %v; git does not have it", e.Path, err)
		}
		return
	}
	if err != nil || string(data) != want {
		o.tb.Errorf("ReadFile(%q) of %s = %q, %v; want %q", e.Path, s.Name(), data, err, want)
	}
}

func (o oracle) index(repo *gitint.Repo) {
	o.tb.Helper()
	index, err := repo.Index(o.tb.Context())
	if err != nil {
		o.tb.Error(err)
		return
	}
	if repo.Root() == "" {
		return // git ls-files wants a working tree
	}
	at := o.r.In(repo.Root()).With("GIT_DIR="+repo.GitDir(), "GIT_WORK_TREE="+repo.Root())
	top := oracle{o.tb, at, o.seen, o.told}
	// Git compares intent-to-add entries with the working tree, and shows them as added there.
	announced := top.fields("diff-files", "--name-only", "--diff-filter=A", "-z")
	var want, conflicts, intents []string
	for _, line := range top.fields("ls-files", "--stage", "-z") {
		head, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(head)
		kind := "blob"
		if f[0] == "160000" {
			kind = "commit"
		}
		switch {
		case f[2] != "0":
			conflicts = append(conflicts, path)
		case slices.Contains(announced, path):
			intents = append(intents, path)
		default:
			want = append(want, f[0]+" "+kind+" "+f[1]+"\t"+path)
		}
	}
	o.same("conflicts", slices.Compact(conflicts), index.Conflicts())
	o.same("intents", intents, index.IntentToAdd())
	o.snapshot(index, want)
}

// objects compares every object that git can enumerate.
func (o oracle) objects(repo *gitint.Repo) {
	o.tb.Helper()
	var ids []gitint.OID
	list := o.r.Run("cat-file", "--batch-all-objects", "--batch-check")
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		id, err := gitint.ParseOID(f[0])
		if err != nil {
			o.tb.Fatal(err)
		}
		ids = append(ids, id)
		data, err := repo.ReadObject(o.tb.Context(), id, 0)
		if size := fmt.Sprint(len(data)); err != nil || size != f[2] {
			o.tb.Errorf("object %s: %s bytes, %v; want %s", id, size, err, f[2])
		}
		if n, err := repo.ObjectSize(o.tb.Context(), id); err != nil || fmt.Sprint(n) != f[2] {
			o.tb.Errorf("size of object %s: %d, %v; want %s", id, n, err, f[2])
		}
	}
	o.bulk(repo, ids)
	if missing, err := repo.HasObject(o.tb.Context(), ids); err != nil || len(missing) > 0 {
		o.tb.Errorf("git has all objects, we miss %v, %v", missing, err)
	}
}

func (o oracle) commits(repo *gitint.Repo) {
	o.tb.Helper()
	if _, err := o.r.Try("rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return
	}
	commits, err := repo.Commits(o.tb.Context(), "HEAD")
	if err != nil {
		o.tb.Error(err)
		return
	}
	var got []string
	for _, c := range commits {
		line := c.OID.String()
		for _, p := range c.Parents {
			line += " " + p.String()
		}
		got = append(got, line)
	}
	want := strings.Split(o.r.Run("log", "--topo-order", "--reverse", "--format=%H %P", "HEAD"), "\n")
	for i := range want {
		want[i] = strings.TrimSuffix(want[i], " ")
	}
	o.same("commits", want, got)
}

// fields splits the output of a command with -z.
func (o oracle) fields(args ...string) []string {
	o.tb.Helper()
	out := strings.TrimSuffix(o.r.Run(args...), "\x00")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\x00")
}

func (o oracle) same(what string, want, got any) {
	o.tb.Helper()
	if a, b := fmt.Sprintf("%q", want), fmt.Sprintf("%q", got); a != b {
		o.tb.Errorf("%s differ (-git +ours):\n%s", what, cmp.Diff(want, got))
	}
}

// readAll reads everything with the package only: running git would touch files that the package
// does not.
func readAll(tb testing.TB, repo *gitint.Repo) {
	tb.Helper()
	ctx := tb.Context()
	refs, err := repo.Refs(ctx)
	if err != nil {
		tb.Error(err)
	}
	revs := []string{"HEAD"}
	for _, ref := range refs {
		revs = append(revs, ref.OID.String())
	}
	for _, rev := range revs {
		if tree, err := repo.Tree(ctx, rev); err == nil {
			readSnapshot(tb, repo, tree)
		}
	}
	index, err := repo.Index(ctx)
	if err != nil {
		tb.Error(err)
		return
	}
	readSnapshot(tb, repo, index)
	_, _ = repo.Commits(ctx, "HEAD")
	_, _ = repo.Head(ctx)
}

func readSnapshot(tb testing.TB, repo *gitint.Repo, s gitint.Snapshot) {
	tb.Helper()
	entries, err := s.Entries(".")
	if err != nil {
		tb.Error(err)
	}
	for _, e := range entries {
		_, _ = s.ReadFile(e.Path)
		_, _ = repo.ObjectSize(tb.Context(), e.OID)
	}
}

// listing describes every file below some directories, with times and size, so that two listings
// are equal only if nothing was written in between.
func listing(tb testing.TB, dirs ...string) []string {
	tb.Helper()
	var all []string
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := os.Lstat(path)
			if err != nil {
				return err
			}
			all = append(all, fmt.Sprintf("%s %v %d %d", path, info.Mode(), info.Size(),
				info.ModTime().UnixNano()))
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return all
}

// reasons lists why the answers may be incomplete.
func reasons(repo *gitint.Repo) []string {
	var all []string
	for _, i := range repo.Incomplete() {
		all = append(all, i.Reason)
	}
	return all
}
