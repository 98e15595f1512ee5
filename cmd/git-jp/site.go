package main

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/outfile"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/site"
	"github.com/git-jp/git-jp/internal/view"
)

type siteCmd struct {
	textOnly

	Folder   string `arg:"" name:"dir" help:"The folder: a new one, an empty one, or one that was made so."`
	Archived bool   `short:"a" help:"Archived conversations too."`
	Focused  bool   `help:"Only prompts and the answers to them."`
	Title    string `default:"Conversations" help:"The title of the list."`

	Files []string `placeholder:"GLOB" sep:"none" help:"Publish these files too, with the turns behind their lines: paths from the root of the repository, as in 'src/**'."`
}

// Help explains what is in the folder.
func (siteCmd) Help() string {
	return `Writes a folder with a list of the conversations, a page for each, and a search through
all of them, tool results included: for GitHub Pages, GitLab Pages or an artifact of CI, or to
be opened from the disk. It needs no server, and fetches nothing from anywhere else. Sessions
of coding agents that were imported are there too.

Called again it writes the pages of conversations that changed, and completes what an
interrupted run has begun. A folder that has files of something else is refused. A list of the
commits that added turns leads to these, where all of history is here. What others should not
read does not belong into it: look at the pages before you publish them.

--files=GLOB publishes what files contain, as the commit that is checked out has them: of text
files that calls of tools wrote all lines, with the turns behind them, marked recorded or
inferred as by git jp blame. A * does not match a /, and ** does: --files='src/**' is all of
src. Files that are not committed, binary ones and those of more than 500 kB are not published.`
}

// Run writes the site.
func (c siteCmd) Run(ctx context.Context, a *app) error {
	prices, err := a.models()
	if err != nil {
		return err
	}
	w, err := a.workspace()
	if err != nil {
		return err
	}
	entries, err := site.EntriesOf(ctx, w, c.Archived)
	if err != nil {
		return err
	}
	var authors map[events.ID]string
	var commits *site.History
	if h := historyOf(ctx, a, nil, ""); h != nil {
		authors, _ = h.Authors(ctx) // a repository without commits: the list names the askers
		if rev, dirs, err := h.Dirs(ctx); err == nil {
			commits = site.HistoryOf(ctx, h.Repo, rev, dirs, a.note)
		}
	}
	files, err := c.files(ctx, a)
	if err != nil {
		return err
	}
	failed := false
	folder := a.path(c.Folder)
	if err := outfile.Refuse(folder); err != nil {
		return fmt.Errorf("write %s: %w", c.Folder, err)
	}
	r, err := site.Build(ctx, folder, entries, site.Options{
		Title: c.Title, Version: a.version, Page: view.Document{Focused: c.Focused, Prices: prices},
		Authors: authors, History: commits, Files: files,
		Problem: func(err error) {
			failed = true
			if !isNotHere(a, err) {
				a.warn("%v", err)
			}
		},
	})
	if err != nil {
		return err
	}
	a.note("%s, %d written, %d removed: %s", render.Count(r.Written+r.Kept, "page"), r.Written,
		r.Removed, folder)
	if files != nil && r.Files == 0 {
		a.warn("no file is published: --files matches none of HEAD with lines that a call wrote")
	}
	if failed {
		return report.ErrProblems
	}
	return nil
}

// files returns the files that are published, nil without --files.
func (c siteCmd) files(ctx context.Context, a *app) (*site.Files, error) {
	if len(c.Files) == 0 {
		return nil, nil
	}
	repo, err := a.repo(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := repo.Resolve(ctx, "HEAD"); err != nil {
		return nil, fmt.Errorf("publish files: %w", err)
	}
	return &site.Files{Repo: repo, Rev: "HEAD", Globs: c.Files}, nil
}
