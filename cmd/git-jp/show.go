package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/internal/listing"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/workspace"
)

type showCmd struct {
	Conversation []string `arg:"" optional:"" help:"Conversations; the active one by default."`
	Files        bool     `help:"Print every path that the conversation depends on, one a line."`
	Null         bool     `short:"z" help:"With --files, end paths with NUL."`
}

// Help explains --files.
func (showCmd) Help() string {
	return `--files prints the conversation's own files and the files of all content it refers to,
relative to the current directory (in a bare repository, to the top of HEAD), so that other
programs can take them:

    git jp show --files -z 17738 | git add --pathspec-from-file=- --pathspec-file-nul

'git jp stage' does that in one step and looks first whether all of it is there.`
}

// Run shows everything about conversations that takes no blob.
func (c showCmd) Run(a *app) error {
	switch {
	case c.Null && !c.Files:
		return usagef("--null needs --files")
	case c.Files && a.JSON:
		return usagef("--files and --json cannot be used together")
	}
	entries, err := findAll(a, c.Conversation)
	if err != nil {
		return err
	}
	if len(entries) == 1 {
		conv, err := a.openWorkspace.Load(entries[0])
		if err != nil {
			return err
		}
		return c.one(a, conv, false)
	}
	return c.several(a, entries)
}

// several shows the conversations that can be read, and reports the others.
func (c showCmd) several(a *app, entries []workspace.Entry) error {
	var problems error
	further := false
	for _, e := range entries {
		conv, err := a.openWorkspace.Load(e)
		if err != nil {
			a.warn("%v", err)
			problems = report.ErrProblems
			continue
		}
		if err := c.one(a, conv, further); err != nil {
			return err
		}
		further = true
	}
	return problems
}

func (c showCmd) one(a *app, conv *workspace.Conversation, further bool) error {
	if c.Files {
		return c.printFiles(a, conv)
	}
	return c.print(a, conv, further)
}

// load finds and reads a conversation, the active one without a name.
func (a *app) load(name string) (*workspace.Conversation, error) {
	e, err := a.findOr(name)
	if err != nil {
		return nil, err
	}
	return a.openWorkspace.Load(e)
}

func (c showCmd) printFiles(a *app, conv *workspace.Conversation) error {
	paths, err := files(a, conv)
	if err != nil {
		return err
	}
	end := "\n"
	if c.Null {
		end = "\x00"
	}
	for _, p := range paths {
		if !c.Null && strings.Contains(p, "\n") {
			return fmt.Errorf("print %q: the path holds a line feed; use -z", p)
		}
		if _, err := fmt.Fprint(a.stdout, p, end); err != nil {
			return err
		}
	}
	return nil
}

// files returns the paths that a conversation depends on, relative to the current directory.
func files(a *app, conv *workspace.Conversation) ([]string, error) {
	here, err := realDir(a.directory())
	if a.committedIn != "" {
		here = a.openRepo.GitDir() // the paths that the commit has
	}
	if err != nil {
		return nil, err
	}
	paths := listing.Files(a.openWorkspace, conv)
	for i, p := range paths {
		if rel, err := filepath.Rel(here, p); err == nil {
			paths[i] = rel
		}
	}
	return paths, nil
}

// realDir follows links, since the paths of a workspace have none.
func realDir(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, os.ErrNotExist) {
		return dir, nil
	}
	return real, err
}

func (c showCmd) print(a *app, conv *workspace.Conversation, further bool) error {
	r := listing.NewOverview(conv)
	r.Active = conv.ID == activeID(a, a.openWorkspace)
	if further && !a.JSON {
		fmt.Fprintln(a.stdout)
	}
	return r.Print(&a.terminal.Printer)
}
