package redact

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
)

// history prints what redacting does not reach, and commands for all of it: after a command for
// only a part, the secret would stay where the user no longer looks for it.
func (s Session) history(t Target, reach Reach) error {
	p := s.Printer
	if n := len(reach.Commits); n > 0 {
		const short = 12
		p.Warn("%s changed these files and may contain the text; the latest is %s",
			render.Count(n, "commit"), reach.Commits[n-1][:short])
		if len(reach.Contents) > 0 {
			paths, err := s.paths(reach.Contents)
			if err != nil {
				return err
			}
			p.Note("'git filter-repo --invert-paths %s' removes the content from history", paths)
			if reach.LFS {
				p.Note("Git LFS keeps the content: remove it at its server and in its local store")
			}
		}
		p.Note("'git filter-repo --replace-text FILE' removes the text; FILE contains the secret")
		if slices.ContainsFunc(reach.Dirs, func(dir string) bool {
			id, ok := events.ParseDirname(path.Base(dir))
			return ok && t.inDirname(id, path.Base(dir))
		}) {
			p.Note("'git filter-repo --filename-callback " +
				"\"return filename.replace(b'NAME', b'redacted')\"' " +
				"renames directories in history; NAME is the part of their names to replace")
		}
		p.Note("run git filter-repo in a fresh clone ('git clone --no-local'), or with --force")
	}
	p.Note("a secret that was pushed or shared must be revoked where it was issued")
	return nil
}

// maxPaths is how many paths are printed as options of a command.
const maxPaths = 5

// pathsFile lists the paths of redacted blobs. It is below git's common directory.
const pathsFile = "redacted-paths"

// paths returns the options that name blobs. If there are many, a file lists them, one a line,
// together with those of earlier redactions.
func (s Session) paths(contents []string) (string, error) {
	hasBreak := func(name string) bool { return strings.Contains(name, "\n") }
	if len(contents) <= maxPaths || slices.ContainsFunc(contents, hasBreak) {
		var b strings.Builder
		for _, name := range contents {
			b.WriteString(" --path " + check.ShellQuote(name))
		}
		return b.String()[1:], nil
	}
	dir := filepath.FromSlash(s.Repo.Dir())
	file := filepath.Join(dir, pathsFile)
	was, err := regular.ReadFile(file, regular.MaxOwn)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	all := slices.AppendSeq(slices.Clone(contents), strings.Lines(string(was)))
	for i, name := range all {
		all[i] = strings.TrimSuffix(name, "\n")
	}
	slices.Sort(all)
	text := strings.Join(slices.Compact(all), "\n") + "\n"
	err = atomicfile.ReplaceIn(dir, pathsFile, was, []byte(text), atomicfile.Options{
		TempDir: tempDir, Private: true,
	})
	return "--paths-from-file " + check.ShellQuote(file), err
}
