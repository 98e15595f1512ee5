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

// A damage is something that keeps the collector from reading a file as it was written.
type damage struct {
	name string
	// during collects while the file is damaged, and leaves it as it was.
	during func(f *fixture, file string) error
}

// fileDamages are those that need nothing but the file. Each file meets one after the other, or
// one where there is no time for all.
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

// cut shortens data to n bytes, or one less where nobody could see that a line is missing.
func cut(data []byte, n int) []byte {
	if n > 0 && data[n-1] == '\n' {
		n--
	}
	return data[:n]
}

// collectAll collects whatever the options allow to collect.
func (f *fixture) collectAll() error {
	o, err := f.open()
	if err != nil {
		return err
	}
	o.AcceptMissing, o.Now = true, time.Now // what a writer has begun is young
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
	defer os.Chmod(file, info.Mode()) //nolint:errcheck // it was ours a moment ago
	return f.collectAll()
}

// without takes a file away and returns what brings it back.
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

// rewritten damages what is in the file.
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

// goneLater takes the file away when the first blob was moved.
func goneLater(f *fixture, file string) error {
	back := func() {}
	f.hook = onceAt(gc.StepMove, func() { back = f.without(file) })
	err := f.collectAll()
	back()
	return err
}

// thereLater brings the file when the first blob was moved. Nobody has seen it before.
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

// An unseen damage leaves a file as somebody could have written it.
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

// anyText is why nothing is known of a file by what is in it.
const anyText = "is read as a text, which may be a damaged one"

func isUnseen(file, damage string) bool {
	return slices.ContainsFunc(allUnseen, func(u unseen) bool {
		return regexp.MustCompile(u.file).MatchString(file) && slices.Contains(u.damages, damage)
	})
}
