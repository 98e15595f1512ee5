package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
)

const (
	branches    = 40
	blobsEach   = 25
	firstCommit = 1_767_225_600 // its time; each later one is a second later
)

// pipeline is the fastest correct use of git for a collector's main question: the contents that any
// version of any stream refers to. It ignores reflogs, indexes and working trees, and does not
// check whether a commit has what it refers to.
const pipeline = `git log --all --full-history -m --root --raw --no-abbrev --no-renames \
	--format= -- .jp/conversations |
awk '$6 ~ /events.json$/ && $4 !~ /^0+$/ && !seen[$4]++ { print $4 }' |
git cat-file --batch --buffer | grep -ao '"$blob": "[0-9a-f]*"' | sort -u | wc -l`

// collect marks a repository in which every commit of every branch adds a conversation, and the
// last one of the checked-out branch drops forty.
func collect(commitsEach int, warm bool) setUp {
	return func(b *builder) (ours, theirs side, err error) {
		n := max(commitsEach/b.scale, 2)
		err = b.shared(fmt.Sprint("history of ", n), func() error { return b.history(n) })
		ours, theirs = b.plan()
		if warm {
			ours.before = nil
		}
		return ours, theirs, err
	}
}

// plan plans a collection without what git jp has found out before; its opponent is the pipeline.
func (b *builder) plan() (ours, theirs side) {
	ours = b.jp("gc", "--dry-run", "--grace", "0s", "--json")
	ours.label, ours.before = "gc --dry-run", b.forget
	return ours, b.shell("git log | git cat-file", pipeline)
}

// collectAll collects what the last commit of a branch dropped, or erases what the run before has
// moved. Its opponent is the plan alone, without a second opinion.
func collectAll(erase bool) setUp {
	return func(b *builder) (ours, theirs side, err error) {
		theirs, _, err = collect(100, false)(b)
		ours = b.jp("gc", "run", "--grace", "0s", "--yes")
		ours.before = func() error {
			err := cmp.Or(b.forget(), b.git("reset", "-q", "--hard"))
			if err == nil && erase {
				err = b.start(nil, ours.args...) // which moves what is to be erased
			}
			return err
		}
		theirs.before = ours.before
		return ours, theirs, err
	}
}

func collectOrFsck(b *builder) (ours, theirs side, err error) {
	ours, _, err = collect(100, false)(b)
	return ours, b.other("git fsck", "git", "fsck", "--connectivity-only"), err
}

// errNoLFS reports that git-lfs is not installed.
var errNoLFS = errors.New("no git-lfs")

// collectOrPrune gives git-lfs the same contents as LFS objects, of the same commits.
func collectOrPrune(b *builder) (ours, theirs side, err error) {
	if _, err := exec.LookPath("git-lfs"); err != nil {
		return ours, theirs, errNoLFS
	}
	ours, _, err = collect(100, false)(b)
	if err != nil {
		return ours, theirs, err
	}
	lfs := filepath.Join(b.dir, "..", filepath.Base(b.dir)+"-lfs")
	script := `git clone -q --no-local --bare . "$0" && cd "$0" &&
git lfs migrate import --everything --yes --include='*.blob.gz' >&2`
	theirs = b.other("git lfs prune", "git", "lfs", "prune", "--dry-run")
	theirs.dir = lfs
	return ours, theirs, b.start(nil, "sh", "-c", script, lfs)
}

// history makes the branches, checks one out, and packs everything.
func (b *builder) history(commitsEach int) error {
	if err := b.git("init", "-q"); err != nil {
		return err
	}
	if err := b.fastImport(func(w io.Writer) error { return writeHistory(w, commitsEach) }); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"symbolic-ref", "HEAD", "refs/heads/branch-0"}, {"repack", "-adq"}, {"reset", "-q", "--hard"},
	} {
		if err := b.git(args...); err != nil {
			return err
		}
	}
	return nil
}

// writeHistory writes the branches for git fast-import.
func writeHistory(w io.Writer, commitsEach int) error {
	beginCommit(w, "branch-0", 0)
	err := identity().add(w)
	for branch := range branches {
		name := fmt.Sprint("branch-", branch)
		for n := range commitsEach {
			beginCommit(w, name, n+1)
			if n == 0 {
				fmt.Fprint(w, "from :1\n")
			}
			for _, f := range conversation(branch*commitsEach+n, blobsEach) {
				err = cmp.Or(err, f.add(w))
			}
		}
	}
	beginCommit(w, "branch-0", commitsEach+1)
	for n := range min(40, commitsEach/2) {
		fmt.Fprintf(w, "D .jp/conversations/%d-generated-%d\n", 17000000000+n, n)
	}
	return err
}
