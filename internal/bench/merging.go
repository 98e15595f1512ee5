package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
)

// mergeReal compares reading, merging, checking and writing three versions of the largest real
// conversation with git's merge of the same files, which gives no JSON and exits with the
// number of its conflicts.
func mergeReal(b *builder) (ours, theirs side, err error) {
	files, err := b.cut()
	if err != nil {
		return ours, theirs, err
	}
	ours = side{label: "threeway.Merge", do: func() (time.Duration, error) {
		start := time.Now()
		err := mergeFiles(files, filepath.Join(b.dir, "merged.json"))
		return time.Since(start), err
	}}
	theirs = side{label: "git merge-file", do: func() (time.Duration, error) {
		start := time.Now()
		// The status counts conflicts; there is always one.
		_ = b.git("merge-file", "-p", "-q", files[1], files[0], files[2])
		return time.Since(start), nil
	}}
	return ours, theirs, nil
}

// driverStart measures the cost that git pays for every file that it merges: both sides continued
// alike, so that ours is the result and each run finds the same files. Git runs a driver in a
// repository.
func driverStart(b *builder) (ours, theirs side, err error) {
	if err := b.repository(1, 1, true); err != nil {
		return ours, theirs, err
	}
	var files [3]string
	for i, days := range [][]int{{1}, {1, 2}, {1, 2}} {
		files[i] = filepath.Join(b.dir, string(rune('a'+i))+".json")
		if err := os.WriteFile(files[i], streamOf(days...), 0o644); err != nil {
			return ours, theirs, err
		}
	}
	ours = b.jp("merge-driver", "events", files[0], files[1], files[2], "a/events.json", "7")
	theirs = b.other("git merge-file",
		"git", "merge-file", "-p", "-q", files[1], files[0], files[2])
	return ours, theirs, nil
}

// merged is how many conversations both sides of mergeMany continued.
const merged = 200

// mergeMany merges branches that both continued the same conversations, with our driver and with
// git's own merge of lines in its place, which stops at each of them.
func mergeMany(b *builder) (ours, theirs side, err error) {
	if err := b.git("init", "-q", "-b", "main"); err != nil {
		return ours, theirs, err
	}
	if err := b.continued("base", 1); err != nil {
		return ours, theirs, err
	}
	for branch, day := range map[string]int{"theirs": 3, "ours": 2} {
		if err := b.git("checkout", "-q", "-b", branch, "main"); err != nil {
			return ours, theirs, err
		}
		if err := b.continued(branch, 1, day); err != nil {
			return ours, theirs, err
		}
	}
	if err := b.start(nil, b.binary, "install", "-q", "--drivers"); err != nil {
		return ours, theirs, err
	}
	ours = side{label: "its driver", do: func() (time.Duration, error) {
		return b.merge(b.binary + " merge-driver events %O %A %B %P %L")
	}}
	theirs = side{label: "git merge-file", do: func() (time.Duration, error) {
		took, _ := b.merge("git merge-file -q %A %O %B") // which leaves markers in all
		return took, nil
	}}
	return ours, theirs, nil
}

// merge merges theirs into ours with a driver.
func (b *builder) merge(driver string) (time.Duration, error) {
	if err := b.git("checkout", "-q", "-f", "ours"); err != nil {
		return 0, err
	}
	if err := b.git("reset", "-q", "--hard", "ours"); err != nil {
		return 0, err
	}
	start := time.Now()
	err := b.git("-c", "merge.jp-events.driver="+driver, "merge", "-q", "--no-commit", "theirs")
	return time.Since(start), err
}

// continued commits the conversations with a turn of each of the days.
func (b *builder) continued(subject string, days ...int) error {
	for i := range merged {
		name := fmt.Sprintf(".jp/conversations/%d-talk/events.json", 17000000000+i)
		if err := b.write(name, streamOf(days...)); err != nil {
			return err
		}
	}
	if err := b.git("add", "."); err != nil {
		return err
	}
	return b.git("commit", "-q", "-m", subject)
}

// streamOf returns a stream with a turn on each of the days.
func streamOf(days ...int) []byte {
	s := events.New()
	for _, day := range days {
		at := time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
		s.Append(
			events.NewElement(at, &events.TurnStart{}, events.Metadata{}),
			events.NewElement(at, &events.ChatRequest{Content: "What is it?"}, events.Metadata{}),
			events.NewElement(at, &events.ChatResponse{Text: "This."}, events.Metadata{}),
		)
	}
	return s.Encode()
}

// mergeFiles does the work of a merge driver with base, ours and theirs.
func mergeFiles(files [3]string, out string) error {
	var sides [3]threeway.Side
	for i, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if sides[i].Stream, err = events.Decode(data); err != nil {
			return err
		}
	}
	r, err := threeway.Merge(sides[0], sides[1], sides[2])
	if err != nil {
		return err
	}
	return os.WriteFile(out, r.Stream.Encode(), 0o644)
}

// cut writes the largest real conversation as it was after five turns, and the versions of two
// people, each of whom continued with one half of the rest.
func (b *builder) cut() (files [3]string, err error) {
	data, err := os.ReadFile(filepath.Join(b.data, "conversations",
		"17738399468-rfd-review-and-phase-1-planning", "events.json"))
	if err != nil || b.data == "" {
		return files, errNoData
	}
	for i, name := range []string{"base.json", "ours.json", "theirs.json"} {
		s, err := events.Decode(data)
		if err != nil {
			return files, err
		}
		turns := s.Turns()
		from, to := turns[5].First, s.Len()
		switch i {
		case 1:
			from = turns[8].First
		case 2:
			to = turns[8].First
		}
		s.Remove(from, to-from)
		files[i] = filepath.Join(b.dir, name)
		if err := os.WriteFile(files[i], s.Encode(), 0o644); err != nil {
			return files, err
		}
	}
	return files, nil
}
