package gc_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/git-jp/git-jp/gc"
)

// A damage keeps the collector from reading a file as it was written.
type damage struct {
	name string
	// during collects while the file is damaged, and restores it.
	during func(f *fixture, file string) error
}

// fileDamages need only the file. Each file gets all of them, or one in a short run.
var fileDamages = []damage{
	{"closed", func(f *fixture, file string) error { return f.whileClosed(file) }},
	{"zeros", rewritten(func(data []byte) []byte { return make([]byte, len(data)) })},
	{"half", rewritten(func(data []byte) []byte { return cut(data, len(data)/2) })},
	{"gone at the second look", goneLater},
	{"in a closed directory", func(f *fixture, file string) error {
		return f.whileClosed(filepath.Dir(file))
	}},
	{"zeros at the end", rewritten(func(data []byte) []byte {
		return append(bytes.Clone(data[:len(data)/2]), make([]byte, len(data)-len(data)/2)...)
	})},
	{"three quarters", rewritten(func(data []byte) []byte { return cut(data, len(data)*3/4) })},
	{"there at the second look", thereLater},
	{"empty", rewritten(func([]byte) []byte { return nil })},
}

// cut truncates data to n bytes, or one less if the cut would not be visible because it is at the
// end of a line.
func cut(data []byte, n int) []byte {
	if n > 0 && data[n-1] == '\n' {
		n--
	}
	return data[:n]
}

// collectAll collects with the options that allow the most.
func (f *fixture) collectAll() error {
	o, err := f.open()
	if err != nil {
		return err
	}
	o.AcceptMissing, o.Now = true, time.Now // unfinished files are within the grace period
	p, err := gc.MakePlan(f.tb.Context(), o)
	if err == nil {
		_, err = gc.Sweep(f.tb.Context(), o, p)
	}
	return err
}

func (f *fixture) whileClosed(file string) error {
	info, err := os.Lstat(file)
	if err == nil {
		err = os.Chmod(file, 0)
	}
	if err != nil {
		f.tb.Fatal(err)
	}
	defer os.Chmod(file, info.Mode()) // it was ours a moment ago
	return f.collectAll()
}

// without moves a file away and returns a function that restores it.
func (f *fixture) without(file string) (back func()) {
	aside := filepath.Join(f.tb.TempDir(), "aside")
	if err := os.Rename(file, aside); err != nil {
		f.tb.Fatal(err)
	}
	return func() {
		if err := os.Rename(aside, file); err != nil {
			f.tb.Fatal(err)
		}
	}
}

// rewritten damages the content of the file.
func rewritten(change func([]byte) []byte) func(f *fixture, file string) error {
	return func(f *fixture, file string) error {
		data, err := os.ReadFile(file)
		if err != nil {
			f.tb.Fatal(err)
		}
		defer f.without(file)()
		if err := os.WriteFile(file, change(data), 0o644); err != nil {
			f.tb.Fatal(err)
		}
		return f.collectAll()
	}
}

// goneLater removes the file after the first blob was moved.
func goneLater(f *fixture, file string) error {
	back := func() {}
	f.hook = onceAt(gc.StepMove, func() { back = f.without(file) })
	err := f.collectAll()
	back()
	return err
}

// thereLater creates the file after the first blob was moved. It did not exist before.
func thereLater(f *fixture, file string) error {
	back := sync.OnceFunc(f.without(file))
	f.hook = onceAt(gc.StepMove, back)
	err := f.collectAll()
	back()
	return err
}

func onceAt(at gc.Step, do func()) func(gc.Step, string) error {
	once := sync.OnceFunc(do)
	return func(s gc.Step, _ string) error {
		if s == at {
			once()
		}
		return nil
	}
}

// An unseen damage leaves a file that could have been written so.
type unseen struct {
	file    string // a pattern of the path
	damages []string
	why     string
}

var (
	inside    = []string{"zeros", "zeros at the end", "half", "three quarters", "empty"}
	emptied   = []string{"empty"}
	allUnseen = []unseen{
		{`^data/`, inside, anyText},
		{`^(away|repo/\.git/jp/trash)/`, inside, anyText},
		{`/(rr-cache|lost-found/other)/`, inside, anyText},
		{`^repo/\.jp/conversations/(\.trash/|.*\.orig$)`, inside, anyText},
		{`^repo/\.jp/blobs/\.tmp/`, inside, anyText},
		{`/logs/refs/(stash|heads/.*)$`, emptied, "so 'git reflog expire' leaves it"},
		{`/(git-rebase-todo|sequencer/todo)$`, emptied, "so the last pick leaves it"},
		{`/FETCH_HEAD$`, emptied, "so a fetch begins"},
		{`/rebase-apply/abort-safety$`, emptied, "so it is without a commit"},
	}
)

// anyText is the reason why damage to a file cannot be detected.
const anyText = "is read as a text, which may be a damaged one"

func isUnseen(file, damage string) bool {
	return slices.ContainsFunc(allUnseen, func(u unseen) bool {
		return regexp.MustCompile(u.file).MatchString(file) && slices.Contains(u.damages, damage)
	})
}
