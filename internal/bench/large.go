package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// large are the rows about a repository with a large store: they show what costs grow with.
var large = []bench{
	{"start-up", 5, startUp},
	{"pre-commit hook, no .jp path staged", 5, largeIdle},
	{"stage --all, nothing new", 1.5, stageNothing},
	{"stage of one conversation", 3, stageOne},
	{"migrate, nothing new", 2, migrateNothing},
	{"check HEAD, first time", 2, largeCheck(false)},
	{"check HEAD, again", 0.7, largeCheck(true)},
	{"gc --dry-run, first time", none, largeCollect(false)},
	{"gc --dry-run, again", none, largeCollect(true)},
	{"status, nothing new", 2, largeStatus(0)},
	{"status, 10,000 new conversations", 4, largeStatus(10_000)},
}

// commits is how many commits the large repository has at least.
const commits = 2000

// first is the number of the first conversation that is in no commit.
const first = 90_000_000

// large makes a repository of b.blobs blobs, 25 a conversation, all committed and checked out.
func (b *builder) large() error {
	b.dir = filepath.Join(b.top, "large")
	if b.kept != "" {
		var err error
		if b.dir, err = filepath.Abs(b.kept); err != nil {
			return err
		}
	}
	made := b.once(func() error {
		if err := b.git("init", "-q"); err != nil {
			return err
		}
		pipe, in := io.Pipe()
		go func() { in.CloseWithError(b.importLarge(in)) }()
		if err := b.gitIn(pipe, "fast-import", "--quiet"); err != nil {
			return err
		}
		if err := b.git("symbolic-ref", "HEAD", "refs/heads/main"); err != nil {
			return err
		}
		if err := b.git("reset", "-q", "--hard"); err != nil {
			return err
		}
		// Every git would read entries again that are as new as their index.
		return b.git("update-index", "--refresh", "-q", "--really-refresh")
	})
	if made != nil {
		return made
	}
	// Undo what the row before has added and changed.
	return cmp.Or(b.git("reset", "-q", "--hard"), b.git("clean", "-dfq", ".jp"))
}

func (b *builder) importLarge(w io.Writer) error {
	in := bufio.NewWriterSize(w, 1<<20)
	each := max(b.blobs/blobsEach/commits, 1)
	for n := range b.blobs / blobsEach {
		if n%each == 0 {
			fmt.Fprintf(in, "commit refs/heads/main\ncommitter Ada <ada@example.com> %d +0000\n"+
				"data 1\nx\n", collectSince+n)
		}
		if n == 0 {
			fmt.Fprint(in, "M 100644 inline .jp/.id\ndata 16\ngenerated\nbench\n\n")
		}
		for _, f := range conversation(n, blobsEach) {
			fmt.Fprintf(in, "M 100644 inline %s\ndata %d\n%s\n", f.path, len(f.data), f.data)
		}
	}
	return in.Flush()
}

// against compares a command with a git command in the large repository.
func (b *builder) against(ours []string, theirs ...string) (side, side, error) {
	err := b.large()
	return side{label: ours[0], dir: b.dir, args: append([]string{b.binary}, ours...)},
		side{label: "git " + theirs[0], dir: b.dir, args: append([]string{"git"}, theirs...)}, err
}

func largeIdle(b *builder) (ours, theirs side, err error) {
	return b.against([]string{"hook", "pre-commit"}, "diff", "--cached", "--quiet", "--", ".jp")
}

func stageNothing(b *builder) (ours, theirs side, err error) {
	return b.against([]string{"stage", "--all"}, "status")
}

// stageOne stages a conversation of 25 blobs each time; its opponent one file.
func stageOne(b *builder) (ours, theirs side, err error) {
	id := fmt.Sprint(17_000_000_000 + first)
	ours, theirs, err = b.against([]string{"stage", id}, "add", ".jp/.id")
	if err != nil {
		return ours, theirs, err
	}
	for _, f := range conversation(first, blobsEach) {
		if err := b.write(f.path, f.data); err != nil {
			return ours, theirs, err
		}
	}
	index := filepath.Join(b.dir, ".git", "index")
	saved, err := os.ReadFile(index)
	if err != nil {
		return ours, theirs, err
	}
	ours.before = func() error { return os.WriteFile(index, saved, 0o644) }
	theirs.before = func() error {
		return cmp.Or(ours.before(), b.write(".jp/.id", []byte("generated\nagain\n")))
	}
	return ours, theirs, nil
}

func migrateNothing(b *builder) (ours, theirs side, err error) {
	ours, theirs, err = b.against([]string{"migrate", "--to", "blobs"}, "status")
	theirs.label, theirs.args = "ls", []string{b.binary, "ls"}
	return ours, theirs, err
}

func largeCheck(warm bool) func(*builder) (ours, theirs side, err error) {
	return func(b *builder) (ours, theirs side, err error) {
		ours, theirs, err = b.against([]string{"check", "HEAD"}, "fsck", "--connectivity-only")
		if !warm {
			ours.before = b.forget
		}
		return ours, theirs, err
	}
}

func (b *builder) forget() error { return os.RemoveAll(filepath.Join(b.dir, ".git", "jp")) }

func largeCollect(warm bool) func(*builder) (ours, theirs side, err error) {
	return func(b *builder) (ours, theirs side, err error) {
		ours, theirs, err = b.against([]string{"gc", "--dry-run", "--grace", "0s", "--json"}, "log")
		theirs.label, theirs.args = "git log | git cat-file", []string{"sh", "-c", pipeline}
		if !warm {
			ours.before = b.forget
		}
		return ours, theirs, err
	}
}

// largeStatus has a hundredth of the blobs as new conversations.
func largeStatus(n int) func(*builder) (ours, theirs side, err error) {
	return func(b *builder) (ours, theirs side, err error) {
		ours, theirs, err = b.against([]string{"status"}, "status", "--porcelain",
			"--untracked-files=all")
		for i := range n / b.scale {
			for _, f := range conversation(first+i, 0) {
				if err := b.write(f.path, f.data); err != nil {
					return ours, theirs, err
				}
			}
		}
		return ours, theirs, err
	}
}
