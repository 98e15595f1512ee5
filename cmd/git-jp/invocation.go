package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/commandline"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
)

// An invocation is the directory and the global flags of a command, and its streams.
type invocation struct {
	*environment
	globals

	terminal *ask.Terminal
}

// A dirFlag is a directory. A relative one is below that of the flag before, as in git.
type dirFlag string

// Decode implements kong's mapping of flags.
func (d *dirFlag) Decode(k *kong.DecodeContext) error {
	var name string
	if err := k.Scan.PopValueInto("string", &name); err != nil {
		return err
	}
	*d = dirFlag(commandline.Change(string(*d), name))
	return nil
}

// directory returns where the command runs: the working directory, or that of -C. Behind a link it
// is where the link leads to, since the search for git's directories continues above that.
func (i *invocation) directory() string { return i.in(i.globals) }

// in returns where a command with some flags runs.
func (w *environment) in(g globals) string {
	if g.Dir == "" {
		return w.dir
	}
	return regular.Resolved(commandline.Below(w.dir, string(g.Dir)))
}

// enter checks that the directory of -C exists: an upward search from a missing one would end in
// another directory.
func (i *invocation) enter() error {
	if i.Dir == "" {
		return nil
	}
	info, err := os.Stat(i.directory())
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return fmt.Errorf("change to %q: %w", i.Dir, err)
	}
	return nil
}

// path makes a path of the command line absolute. As with git it is relative to the directory in
// which the command runs, so that -C counts.
func (i *invocation) path(p string) string { return commandline.Below(i.directory(), p) }

// short returns the shorter of a path and its relative form from here.
func (i *invocation) short(path string) string {
	here, err := realDir(i.directory())
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}

// output describes standard output for render.
func (i *invocation) output() render.Output { return i.outputOf(i.stdoutTerminal) }

func (i *invocation) outputOf(terminal bool) render.Output {
	return render.Signals{
		Terminal: terminal, Columns: i.width, Term: i.getenv("TERM"),
		NoColor: i.getenv("NO_COLOR"), Clicolor: i.getenv("CLICOLOR"),
		ClicolorForce: i.getenv("CLICOLOR_FORCE"), ColorUI: i.colorUI, ColorOff: i.NoColor,
	}.Output()
}

// printJSON writes one record as one line.
func (i *invocation) printJSON(record any) error { return i.terminal.Records(record) }

// note prints a message that is not part of the answer; -q silences it.
func (i *invocation) note(format string, args ...any) { i.terminal.Note(format, args...) }

// warn prints a warning, also with -q.
func (i *invocation) warn(format string, args ...any) { i.terminal.Warn(format, args...) }
