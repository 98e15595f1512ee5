package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxPatch      = 1 << 20
	linesOfFile   = 50 // of a patch, in an overview
	defaultCount  = 20
	maxCount      = 50
	maxUntracked  = 200
	shortOID      = 8
	conversations = ".jp" // the workspace's own record, which is not part of the work
)

func gitStatus(w Workspace) tool.Item {
	return reads(tool.Definition{
		Name:    "git_status",
		Summary: "Show the working tree status: modified, staged, and untracked files.",
		Description: "Lists every path with uncommitted changes in the working tree, including\n" +
			"untracked files. Use `git_diff` to see the actual content changes.",
	}, w.gitStatus)
}

func (w Workspace) gitStatus(ctx context.Context, _ struct{}) (tool.Result, error) {
	under, err := w.under(nil)
	if err != nil {
		return tool.Result{}, err
	}
	staged, err := w.Repo.StagedPaths(ctx, under...)
	if err != nil {
		return tool.Result{}, err
	}
	changed, err := w.Repo.WorkChanges(ctx, under...)
	if err != nil {
		return tool.Result{}, err
	}
	var lines []string
	for _, s := range staged {
		lines = w.status(lines, "staged", stagedWord(s.Status), s.Path)
	}
	untracked := 0
	for _, c := range changed {
		switch c.State {
		case gitint.IgnoredNew:
			continue
		case gitint.Untracked:
			if untracked++; untracked <= maxUntracked {
				lines = w.status(lines, "untracked", "new", c.Path)
			}
			continue
		}
		lines = w.status(lines, "unstaged", workWord(c.State), c.Path)
	}
	if untracked > maxUntracked {
		lines = append(lines, fmt.Sprintf("[%d more untracked files]", untracked-maxUntracked))
	}
	if lines == nil {
		return tool.OK("No uncommitted changes."), nil
	}
	return tool.OK(strings.Join(lines, "\n")), nil
}

// status appends a line, unless tools must not name the path.
func (w Workspace) status(lines []string, where, what, p string) []string {
	name, ok := w.inWorkspace(p)
	if !ok || w.Tree.Forbidden(strings.TrimSuffix(name, "/")) {
		return lines
	}
	return append(lines, fmt.Sprintf("%-9s %-8s %s", where, what, name))
}

// inWorkspace converts a path of the repository to a path of the workspace.
func (w Workspace) inWorkspace(p string) (string, bool) {
	prefix, err := w.prefix()
	if err != nil || prefix == "." {
		return p, err == nil
	}
	return strings.CutPrefix(p, prefix+"/")
}

func stagedWord(status byte) string {
	switch status {
	case 'A':
		return "new"
	case 'D':
		return "deleted"
	case 'U':
		return "conflict"
	}
	return "modified"
}

func workWord(s gitint.WorkState) string {
	switch s {
	case gitint.Deleted:
		return "deleted"
	case gitint.Intended:
		return "new"
	case gitint.Unmerged:
		return "conflict"
	}
	return "modified"
}

func gitDiff(w Workspace) tool.Item {
	status := required(text("status", "Which changes to include in the diff."))
	status.Enum = []jsontext.Value{jsontext.Value(`"staged"`), jsontext.Value(`"unstaged"`)}
	status.Description = "- `\"staged\"`: HEAD vs index.\n- `\"unstaged\"`: index vs working tree."
	return reads(tool.Definition{
		Name: "git_diff",
		Summary: "Show the diff of changes in the git repository, " +
			"filtered by staging status.",
		Description: "Without `paths`, the diff of each file is cut at 50 lines: name a file in\n" +
			"`paths` to see all of its diff.",
		Examples: "```json\n{\"status\": \"unstaged\", \"paths\": [\"src/lib.rs\"]}\n```",
		Parameters: []tool.Parameter{
			texts("paths", "Optional list of paths to restrict the diff to."), status,
		},
	}, w.gitDiff)
}

type diffArgs struct {
	Paths  list   `json:"paths"`
	Status string `json:"status"`
}

func (w Workspace) gitDiff(ctx context.Context, a diffArgs) (tool.Result, error) {
	if a.Status != "staged" && a.Status != "unstaged" {
		return tool.Result{}, fmt.Errorf("status %q is neither staged nor unstaged", a.Status)
	}
	under, err := w.under(a.Paths)
	if err != nil {
		return tool.Result{}, err
	}
	own, err := w.InRepo(conversations)
	if err != nil {
		return tool.Result{}, err
	}
	d := gitint.DiffRequest{Staged: a.Status == "staged", Paths: under, Exclude: []string{own}}
	out, cut, err := w.Repo.Diff(ctx, d, maxPatch)
	if err != nil {
		return tool.Result{}, err
	}
	s := string(out)
	switch {
	case s == "":
		return tool.OK("No " + a.Status + " changes."), nil
	case len(a.Paths) == 0:
		s = overview(s)
	}
	if cut {
		s += fmt.Sprintf("[cut after %d bytes]\n", maxPatch)
	}
	return tool.OK("```diff\n" + s + "```"), nil
}

const fileStart = "diff --git "

// overview shortens the patch of each file.
func overview(patch string) string {
	var b strings.Builder
	for _, part := range strings.Split("\n"+patch, "\n"+fileStart)[1:] {
		lines := strings.SplitAfter(strings.TrimSuffix(part, "\n"), "\n")
		b.WriteString(fileStart + strings.Join(lines[:min(len(lines), linesOfFile)], ""))
		if more := len(lines) - linesOfFile; more > 0 {
			fmt.Fprintf(&b, "[%d more lines; name the file in `paths` to see them]", more)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func gitLog(w Workspace) tool.Item {
	regex := tool.Parameter{
		Name: "content_regex", Types: []string{"boolean"}, Default: jsontext.Value("false"),
		Summary: "Treat `content` as a POSIX extended regex " +
			"matched against added/removed diff lines.",
	}
	return reads(tool.Definition{
		Name:    "git_log",
		Summary: "Search the git commit history.",
		Description: "Use `query` to search messages, and `content` to find commits whose diff\n" +
			"adds or removes a string. Use `git_show` to inspect a specific commit.",
		Examples: "```json\n{\"query\": \"streaming\", \"paths\": [\"src/\"], \"count\": 10}\n```",
		Parameters: []tool.Parameter{
			text("query", "Search string matched against commit messages (substring match)."),
			text("content", "Find commits whose diff adds or removes this exact string."), regex,
			texts("paths", "Restrict to commits touching these file paths."),
			integer("count", "Maximum number of commits to return. Defaults to 20, capped at 50."),
			text("since", "Only return commits after this date, as `2 weeks ago` or `2024-01-01`."),
		},
	}, w.gitLog)
}

type logArgs struct {
	Query   string `json:"query"`
	Content string `json:"content"`
	Regex   bool   `json:"content_regex"`
	Paths   list   `json:"paths"`
	Count   int    `json:"count"`
	Since   string `json:"since"`
}

func (w Workspace) gitLog(ctx context.Context, a logArgs) (tool.Result, error) {
	var under []string
	if len(a.Paths) > 0 {
		var err error
		if under, err = w.under(a.Paths); err != nil {
			return tool.Result{}, err
		}
	}
	if a.Count <= 0 {
		a.Count = defaultCount
	}
	entries, err := w.Repo.Log(ctx, gitint.LogRequest{
		Query: a.Query, Content: a.Content, Regexp: a.Regex, Since: a.Since,
		Paths: under, Count: min(a.Count, maxCount),
	})
	if err != nil {
		return tool.Result{}, err
	}
	if len(entries) == 0 {
		return tool.OK("No commits match."), nil
	}
	var b strings.Builder
	b.WriteString("<git_log>\n")
	for _, e := range entries {
		fmt.Fprintf(&b, "  <commit>\n    hash: %s\n    short_hash: %.*s\n    author: %s\n"+
			"    date: %s\n    subject: %s\n  </commit>\n",
			e.OID, shortOID, e.OID, e.Author, e.Date, e.Subject)
	}
	return tool.OK(b.String() + "</git_log>"), nil
}

func gitShow(w Workspace) tool.Item {
	return reads(tool.Definition{
		Name:     "git_show",
		Summary:  "Show commit details: message and changed file stats (no diff content).",
		Examples: "```json\n{\"revision\": \"HEAD~1\"}\n```",
		Parameters: []tool.Parameter{required(text("revision",
			"The commit hash or any git revision specifier (e.g. `HEAD~1`, a tag, a branch)."))},
	}, w.gitShow)
}

type showArgs struct {
	Revision string `json:"revision"`
}

func (w Workspace) gitShow(ctx context.Context, a showArgs) (tool.Result, error) {
	c, err := w.Repo.Show(ctx, a.Revision)
	if err != nil {
		return tool.Result{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<git_show>\n  <hash>%s</hash>\n  <short_hash>%.*s</short_hash>\n"+
		"  <author>%s</author>\n  <date>%s</date>\n  <message>\n",
		c.OID, shortOID, c.OID, c.Author, c.Date)
	for line := range strings.SplitSeq(c.Message, "\n") {
		b.WriteString("    " + line + "\n")
	}
	b.WriteString("  </message>\n  <files>\n")
	for _, f := range c.Files {
		if f.Added < 0 {
			fmt.Fprintf(&b, "    %s (binary)\n", f.Path)
		} else {
			fmt.Fprintf(&b, "    %s (+%d, -%d)\n", f.Path, f.Added, f.Deleted)
		}
	}
	return tool.OK(b.String() + "  </files>\n</git_show>"), nil
}
