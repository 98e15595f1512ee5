package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
)

// none means that there is no goal.
const none = 0

// benches are the rows that take three minutes together, on an idle machine.
var benches = []bench{
	{"start-up", 5, startUp},
	{"pre-commit hook, no .jp path staged", 5, idleHook("pre-commit")},
	{"pre-merge-commit hook, no .jp path staged", 5, idleHook("pre-merge-commit")},
	{"post-merge hook, no merge of .jp", 5, idleHook("post-merge", "0")},
	{"pre-commit hook, 1 MB of new text to look for secrets in", none, scanned},
	{"post-checkout hook, a file", 5, idleHook("post-checkout", "HEAD", "HEAD", "0")},
	{"ls of 10,000 conversations", none, list},
	{"status of 10,000 new conversations", 4, status},
	{"web: the list of 10,000 conversations, first time", none, webList(false)},
	{"web: the list of 10,000 conversations, again", none, webList(true)},
	{"a page of a conversation of 10 MB", none, pageOfBig},
	{"a page of a conversation of 10 MB, in bytes", none, pageSize},
	{"stage of 1,000 blobs", none, stage},
	{"migrate of the real conversations", none, migrate},
	{"check HEAD with 100,000 blobs, first time", 2, check(false)},
	{"check HEAD with 100,000 blobs, again", 0.7, check(true)},
	{"gc --dry-run, 100,000 blobs, 4,000 commits, first time", 2.5, collect(100, false)},
	{"gc --dry-run, 100,000 blobs, 4,000 commits, again", 0.7, collect(100, true)},
	{"gc --dry-run, 10,000 blobs, 400 commits, first time", none, collect(10, false)},
	{"gc --dry-run, 10,000 blobs, 400 commits, again", none, collect(10, true)},
	{"gc --dry-run, 100,000 blobs, against git fsck", none, collectOrFsck},
	{"saving an event after 50 others", none, saving(50)},
	{"saving an event after 5,000 others", 1.5, saving(5000)},
	{"merging the real conversation cut in two", none, mergeReal},
	{"the merge driver of a small conversation", none, driverStart},
	{"git merge of 200 conversations", 2, mergeMany},
	{"first words, a new conversation", none, firstWords(0)},
	{"first words after 5,000 events", none, firstWords(5000)},
	{"an answer in 10,000 fragments", none, throughput},
	{"importing the real sessions, without the disk", 4, importing},
	{"importing the real sessions", 8, importingToDisk},
	{"the real sessions, imported and packed", 0.15, importedPacked},
	{"the real sessions, imported", 0.45, importedOnDisk},
	{"the real sessions, imported, by files", 60, importedFiles},
	{"the hook of an agent whose session has 1 GB", none, captured},
	{"compacting 20,000 events: strip-reasoning", none, compacting("strip-reasoning")},
	{"compacting 20,000 events: dedup-tools", none, compacting("dedup-tools")},
	{"compacting 20,000 events: trim-superseded", none, compacting("trim-superseded")},
	{"compacting 20,000 events: strip-tool-results", none, compacting("strip-tool-results")},
	{"compacting 20,000 events: strip-attachments", none, compacting("strip-attachments")},
	{"compacting 20,000 events: prune-tools", none, compacting("prune-tools")},
}

// long are the rows that take so long that a few of them equal all others: they run with the large
// ones.
var long = []bench{
	{"site of 10,000 conversations, first time", none, siteOf(false)},
	{"site of 10,000 conversations, again", none, siteOf(true)},
	{"gc of 1,000 of 100,000 blobs, with a second opinion", none, collectAll(false)},
	{"gc that erases 1,000 blobs, with a second opinion on 4,000 commits", none, collectAll(true)},
	{"gc --dry-run, 100,000 blobs, against git lfs prune", none, collectOrPrune},
}

func startUp(b *builder) (ours, theirs side, err error) {
	return b.jp("version"), b.other("git --version", "git", "--version"), nil
}

// idleHook measures the cost of every commit, merge and checkout. Its opponent is the cheapest hook
// that could find out the same: one git process that lists what is staged.
func idleHook(hook ...string) setUp {
	return func(b *builder) (ours, theirs side, err error) {
		if err := b.repository(1, 1, true); err != nil {
			return ours, theirs, err
		}
		if err := b.git("reset", "-q", "--hard"); err != nil {
			return ours, theirs, err
		}
		if err := b.write("main.go", []byte("package main\n")); err != nil {
			return ours, theirs, err
		}
		err = b.git("add", "main.go")
		theirs = b.other("git diff --cached", "git", "diff", "--cached", "--quiet", "--", ".jp")
		return b.jp("hook", hook...), theirs, err
	}
}

// scanned measures the cost of searching a commit for secrets. Its opponent searches for two
// strings.
func scanned(b *builder) (ours, theirs side, err error) {
	if err := b.repository(1, 1, true); err != nil {
		return ours, theirs, err
	}
	line := "It reads the manifest, asks the registry for each name, and writes what it got.\n"
	s := events.New(
		events.NewElement(time.Unix(1, 0), &events.TurnStart{}, events.Metadata{}),
		events.NewElement(time.Unix(2, 0), &events.ChatRequest{
			Content: strings.Repeat(line, 1<<20/len(line)),
		}, events.Metadata{}),
	)
	const dir = ".jp/conversations/17900000000/"
	files := map[string][]byte{
		"events.json":   s.Encode(),
		"metadata.json": []byte(`{"last_activated_at": "2026-01-01 00:00:00.0"}`),
	}
	for name, data := range files {
		if err := b.write(dir+name, data); err != nil {
			return ours, theirs, err
		}
	}
	theirs = b.shell("git grep --cached", "git grep --cached -qF -e ghp_ -e AKIA -- .jp || true")
	return b.jp("hook", "pre-commit"), theirs, b.git("add", dir)
}

func list(b *builder) (ours, theirs side, err error) {
	err = b.shared("conversations", b.conversations)
	return b.jp("ls"), b.shell("cat metadata.json", "cat .jp/conversations/*/metadata.json"), err
}

func status(b *builder) (ours, theirs side, err error) {
	err = b.shared("conversations", b.conversations)
	theirs = b.other("git status", "git", "status", "--porcelain", "--untracked-files=all")
	return b.jp("status"), theirs, err
}

// stage adds the same paths to an empty index in a fresh repository each time.
func stage(b *builder) (ours, theirs side, err error) {
	if err := b.repository(1, 1000/b.scale, false); err != nil {
		return ours, theirs, err
	}
	fresh := func() error {
		if err := b.aside(".git"); err != nil {
			return err
		}
		return b.git("init", "-q")
	}
	var paths bytes.Buffer
	err = fs.WalkDir(os.DirFS(b.dir), ".jp", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, "/.id") {
			fmt.Fprintf(&paths, "%s\x00", path)
		}
		return err
	})
	ours = b.jp("stage", "17000000000")
	theirs = b.other("git add", "git", "add", "--pathspec-from-file=-", "--pathspec-file-nul")
	ours.before, theirs.before, theirs.stdin = fresh, fresh, paths.Bytes()
	return ours, theirs, err
}

// migrate moves all content of the real conversations into the store. The
// opponent compresses and hashes the same contents, one file each, with one
// process for each of the two.
func migrate(b *builder) (ours, theirs side, err error) {
	source := filepath.Join(b.data, "conversations")
	if _, err := os.Stat(source); err != nil || b.data == "" {
		return ours, theirs, errNoData
	}
	if err := b.git("init", "-q"); err != nil {
		return ours, theirs, err
	}
	if err := b.contents(source); err != nil {
		return ours, theirs, err
	}
	fresh := func() error {
		if err := b.aside(".jp"); err != nil {
			return err
		}
		if err := b.write(".jp/.id", []byte("generated\nbench\n")); err != nil {
			return err
		}
		return os.CopyFS(filepath.Join(b.dir, ".jp", "conversations"), os.DirFS(source))
	}
	ours = b.jp("migrate", "-q", "--to", "blobs")
	ours.before = fresh
	theirs = b.shell("gzip -6; sha256sum", "rm -f *.gz; gzip -6 -k * && sha256sum *.bin")
	theirs.dir = filepath.Join(b.dir, "contents")
	return ours, theirs, nil
}

// contents writes each content of the conversations below source to a file.
func (b *builder) contents(source string) error {
	n := 0
	return fs.WalkDir(os.DirFS(source), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "events.json" {
			return err
		}
		data, err := os.ReadFile(filepath.Join(source, path))
		if err != nil {
			return err
		}
		if !json.Valid(data) {
			return fmt.Errorf("%s is no JSON", path)
		}
		s, err := events.Decode(data)
		if err != nil {
			return err
		}
		for c := range s.Contents() {
			text, err := c.Content.Bytes(nil)
			if err != nil {
				return err
			}
			n++
			if err := b.write(fmt.Sprintf("contents/%05d.bin", n), text); err != nil {
				return err
			}
		}
		return nil
	})
}

// check compares the check of a commit with git's, with what the last one found out or without.
func check(warm bool) setUp {
	return func(b *builder) (ours, theirs side, err error) {
		err = b.shared("committed", b.committed)
		ours = b.jp("check", "HEAD")
		if !warm {
			ours.before = b.forget
		}
		return ours, b.other("git fsck", "git", "fsck", "--connectivity-only"), err
	}
}
