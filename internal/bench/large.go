package main

import (
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
		if err := b.fastImport(b.writeLarge); err != nil {
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

// writeLarge writes the large repository for git fast-import.
func (b *builder) writeLarge(w io.Writer) (err error) {
	each := max(b.blobs/blobsEach/commits, 1)
	for n := range b.blobs / blobsEach {
		if n%each == 0 {
			beginCommit(w, "main", n)
		}
		if n == 0 {
			err = identity().add(w)
		}
		for _, f := range conversation(n, blobsEach) {
			err = cmp.Or(err, f.add(w))
		}
	}
	return err
}

// against compares a command with a git command in the large repository.
func (b *builder) against(ours []string, theirs ...string) (side, side, error) {
	err := b.large()
	return b.jp(ours[0], ours[1:]...),
		b.other("git "+theirs[0], append([]string{"git"}, theirs...)...), err
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
	err = b.large()
	return b.jp("migrate", "--to", "blobs"), b.jp("ls"), err
}

func largeCheck(warm bool) setUp {
	return func(b *builder) (ours, theirs side, err error) {
		ours, theirs, err = b.against([]string{"check", "HEAD"}, "fsck", "--connectivity-only")
		if !warm {
			ours.before = b.forget
		}
		return ours, theirs, err
	}
}

func largeCollect(warm bool) setUp {
	return func(b *builder) (ours, theirs side, err error) {
		err = b.large()
		ours, theirs = b.plan()
		if warm {
			ours.before = nil
		}
		return ours, theirs, err
	}
}

// largeStatus has a hundredth of the blobs as new conversations.
func largeStatus(n int) setUp {
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
