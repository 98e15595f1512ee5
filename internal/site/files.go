package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/blame"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/workspace"
)

const filesName = "files.html"

// The limits of a repository's files: git follows each line of a file through history.
const (
	mostFiles    = 2000
	mostFileSize = 500_000
)

// Files are those whose lines are shown with the turns behind them, as a commit has them.
type Files struct {
	Repo  *gitint.Repo
	Rev   string
	Globs []string // of paths below the root, as [gitint.HistoryRequest] has them
}

// A file is what a site records of a file.
type file struct {
	Digest string   `json:"digest"` // of everything that its page depends on
	Page   bool     `json:"page,omitempty"`
	Lines  int      `json:"lines,omitempty"`
	Turns  int      `json:"turns,omitempty"` // that wrote some of them
	Of     []string `json:"of,omitempty"`    // the conversations that it links to
	Left   string   `json:"left,omitempty"`  // why it has no page, "" if no turn is known
}

// filePage returns the page of a site with the lines of a file.
func filePage(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "file-" + hex.EncodeToString(sum[:8]) + ".html"
}

// files writes the pages of files with lines that have turns behind them.
func (b *build) files(ctx context.Context, drafts []draft) error {
	if b.Files == nil {
		return nil
	}
	tree, err := b.Files.Repo.Tree(ctx, b.Files.Rev)
	if err != nil {
		return err
	}
	names, last, err := b.Files.list(ctx, tree, func(name string) bool {
		return len(b.finder.Naming(name)) > 0
	})
	if err != nil {
		return err
	}
	b.is.Files = make(map[string]file, len(names))
	streams := make(map[string]string, len(drafts))
	for _, d := range drafts {
		streams[d.ID.Digits()] = d.digest
	}
	if b.moreFiles = max(0, len(names)-mostFiles); b.moreFiles > 0 {
		names = names[:mostFiles]
	}
	var pages []string
	for _, name := range names {
		if _, ok := b.was.Files[name]; !ok {
			pages = append(pages, filePage(name))
		}
	}
	if err := b.begin(pages...); err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		id, _ := tree.OID(name)
		version := fmt.Sprintln(id, last[name])
		is, err := b.filed(ctx, tree, name, version, streams)
		if err != nil {
			b.Problem(err)
			continue
		}
		b.is.Files[name] = is
		if is.Page {
			b.report.Files++
		}
	}
	b.Page.File = b.fileOf
	return nil
}

// filed returns the record of a file, of the last build where nothing changed that it depends on,
// or after writing its page.
func (b *build) filed(
	ctx context.Context, tree *gitint.Tree, name, version string, streams map[string]string,
) (file, error) {
	was, ok := b.was.Files[name]
	if ok && was.Digest == b.fileDigest(name, version, was.Of, streams) &&
		(!was.Page || b.keeps(filePage(name))) {
		return was, nil
	}
	is, err := b.file(ctx, tree, name, streams)
	if err == nil {
		is.Digest = b.fileDigest(name, version, is.Of, streams)
	}
	return is, err
}

// fileDigest is of everything that the page of a file depends on, if it links to the conversations
// of.
func (b *build) fileDigest(name, version string, of []string, streams map[string]string) string {
	h := sha256.New()
	fmt.Fprint(h, version)
	for _, c := range b.finder.Naming(name) {
		fmt.Fprintln(h, c, streams[c.Digits()])
	}
	for _, digits := range of {
		_, here := streams[digits]
		fmt.Fprintln(h, digits, here)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// list returns the chosen files of the commit that calls wrote, and the last commit that changed
// each.
func (f *Files) list(
	ctx context.Context, tree *gitint.Tree, written func(name string) bool,
) (names []string, last map[string]gitint.OID, err error) {
	all, err := f.Repo.History(ctx, gitint.HistoryRequest{
		Revs: []string{f.Rev}, Globs: f.Globs,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list the files of %s: %w", f.Rev, err)
	}
	last = make(map[string]gitint.OID)
	for _, r := range all { // the newest first
		for _, changed := range r.Files {
			if _, known := last[changed.Path]; !known {
				last[changed.Path] = r.OID
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		info, err := fs.Stat(tree, name)
		if err == nil && info.Mode().IsRegular() && !isOfConversations(name) && written(name) {
			names = append(names, name)
		}
	}
	return names, last, nil
}

// isOfConversations reports whether a file is part of a workspace.
func isOfConversations(name string) bool {
	return slices.Contains(strings.Split(name, "/"), workspace.DirName)
}

// file writes the page of a file, if a turn wrote some of its lines.
func (b *build) file(
	ctx context.Context, tree *gitint.Tree, name string, streams map[string]string,
) (f file, err error) {
	info, err := fs.Stat(tree, name)
	if err != nil {
		return f, err
	}
	if info.Size() > mostFileSize {
		return file{Left: "it is too large"}, nil
	}
	text, err := tree.ReadFile(name)
	switch {
	case err != nil:
		return f, err
	case bytes.IndexByte(text, 0) >= 0:
		return file{Left: "it is not text"}, nil
	case len(text) == 0:
		return f, nil
	}
	found, err := b.finder.Find(ctx, blame.Request{Rev: b.Files.Rev, Path: name})
	if err != nil {
		return f, err
	}
	turns := make(map[string]bool)
	shown := make([]view.Span, len(found))
	for i, s := range found {
		shown[i] = s.Shown()
		f.Lines += len(s.Text)
		for j, t := range s.Turns {
			digits := t.ID.Digits()
			if _, here := streams[digits]; !here {
				shown[i].Turns[j].Page = "" // the site does not have it
			}
			if !slices.Contains(f.Of, digits) {
				f.Of = append(f.Of, digits)
			}
			if t.Wrote > 0 {
				turns[fmt.Sprint(digits, " ", t.Number)] = true
			}
		}
	}
	if f.Turns = len(turns); f.Turns == 0 {
		return f, nil
	}
	f.Page = true
	var page bytes.Buffer
	if err := view.WriteLines(&page, indexName, name, shown); err != nil {
		return f, err
	}
	return f, b.write(filePage(name), page.Bytes())
}

// fileOf returns the page of a file that a call names, "" for none.
func (b *build) fileOf(name string) string {
	if at := blame.PathNamed(b.Files.Repo, name); b.is.Files[at].Page {
		return filePage(at)
	}
	return ""
}

// fileList writes the list of the files, and returns the link to it.
func (b *build) fileList() ([]view.Link, error) {
	if b.Files == nil {
		return nil, nil
	}
	var all []view.File
	for _, name := range slices.Sorted(maps.Keys(b.is.Files)) {
		f := b.is.Files[name]
		switch {
		case f.Page:
			all = append(all, view.File{
				Name: name, Page: filePage(name), Lines: f.Lines, Turns: f.Turns,
			})
		case f.Left != "":
			all = append(all, view.File{Name: name, Left: f.Left})
		}
	}
	var page bytes.Buffer
	if err := view.WriteFiles(&page, indexName, all, b.moreFiles); err != nil {
		return nil, err
	}
	return []view.Link{{Name: "Files", Page: filesName}}, b.write(filesName, page.Bytes())
}

// removeFiles removes the pages of files that no longer exist.
func (b *build) removeFiles(remove func(name string) bool) {
	for name, was := range b.was.Files {
		if was.Page && !b.is.Files[name].Page {
			remove(filePage(name))
		}
	}
	if b.was.Files != nil && b.Files == nil {
		remove(filesName)
	}
}
