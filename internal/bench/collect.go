package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	branches     = 40
	blobsEach    = 25
	collectSince = 1_767_225_600
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
func collect(commitsEach int, warm bool) func(*builder) (ours, theirs side, err error) {
	return func(b *builder) (ours, theirs side, err error) {
		n := max(commitsEach/b.scale, 2)
		err = b.shared(fmt.Sprint("history of ", n), func() error { return b.history(n) })
		if err != nil {
			return ours, theirs, err
		}
		ours = side{
			label: "gc --dry-run", dir: b.dir,
			args: []string{b.binary, "gc", "--dry-run", "--grace", "0s", "--json"},
		}
		if !warm {
			ours.before = func() error { return os.RemoveAll(filepath.Join(b.dir, ".git", "jp")) }
		}
		theirs = side{
			label: "git log | git cat-file", dir: b.dir, args: []string{"sh", "-c", pipeline},
		}
		return ours, theirs, nil
	}
}

// collectAll collects what the last commit of a branch dropped, or erases what the run before has
// moved. Its opponent is the plan alone, without a second opinion.
func collectAll(erase bool) func(*builder) (ours, theirs side, err error) {
	return func(b *builder) (ours, theirs side, err error) {
		theirs, _, err = collect(100, false)(b)
		args := []string{b.binary, "gc", "run", "--grace", "0s", "--yes"}
		theirs.before = func() error {
			err := os.RemoveAll(filepath.Join(b.dir, ".git", "jp"))
			if err == nil {
				err = b.git("reset", "-q", "--hard")
			}
			if err != nil || !erase {
				return err
			}
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Dir, cmd.Env = b.dir, environment()
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("move what is to be erased: %w\n%s", err, out)
			}
			return nil
		}
		ours = theirs
		ours.label, ours.args = "gc", args
		return ours, theirs, err
	}
}

func collectOrFsck(b *builder) (ours, theirs side, err error) {
	ours, _, err = collect(100, false)(b)
	theirs = side{
		label: "git fsck", dir: b.dir, args: []string{"git", "fsck", "--connectivity-only"},
	}
	return ours, theirs, err
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
	cmd := exec.Command("sh", "-c", script, lfs)
	cmd.Dir, cmd.Env = b.dir, environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return ours, theirs, fmt.Errorf("git lfs migrate: %w\n%s", err, out)
	}
	theirs = side{
		label: "git lfs prune", dir: lfs, args: []string{"git", "lfs", "prune", "--dry-run"},
	}
	return ours, theirs, nil
}

// history makes the branches, checks one out, and packs everything.
func (b *builder) history(commitsEach int) error {
	if err := b.git("init", "-q"); err != nil {
		return err
	}
	pipe, in := io.Pipe()
	go func() { in.CloseWithError(b.importHistory(in, commitsEach)) }()
	if err := b.gitIn(pipe, "fast-import", "--quiet"); err != nil {
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

func (b *builder) importHistory(w io.Writer, commitsEach int) error {
	in := bufio.NewWriterSize(w, 1<<20)
	commit := func(branch, n int) {
		fmt.Fprintf(in, "commit refs/heads/branch-%d\n", branch)
		if n == 0 {
			fmt.Fprint(in, "mark :1\n")
		}
		fmt.Fprintf(in, "committer Ada <ada@example.com> %d +0000\n"+
			"data 1\nx\n", collectSince+n)
	}
	commit(0, 0)
	fmt.Fprint(in, "M 100644 inline .jp/.id\ndata 16\ngenerated\nbench\n\n")
	for branch := range branches {
		for n := range commitsEach {
			commit(branch, n+1)
			if n == 0 {
				fmt.Fprint(in, "from :1\n")
			}
			for _, f := range conversation(branch*commitsEach+n, blobsEach) {
				fmt.Fprintf(in, "M 100644 inline %s\ndata %d\n%s\n", f.path, len(f.data), f.data)
			}
		}
	}
	commit(0, commitsEach+1)
	for n := range min(40, commitsEach/2) {
		fmt.Fprintf(in, "D .jp/conversations/%d-generated-%d\n", 17000000000+n, n)
	}
	return in.Flush()
}
