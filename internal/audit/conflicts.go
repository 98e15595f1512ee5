package audit

import (
	"context"
	"path"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Undecided returns a finding for each conflict that a merge left to a person and that was not
// decided. The file may be staged all the same: it loads, and git add accepts it.
func Undecided(ctx context.Context, repo *gitint.Repo) ([]check.Finding, error) {
	records, err := merge.Open(ctx, repo, ".")
	if err != nil {
		return nil, err
	}
	return lists.Map(records, func(r merge.Record) check.Finding {
		return ConflictFinding(merge.Case{Path: r.Path, Record: &r})
	}), nil
}

// InConflict is [Undecided] together with unmerged files for which git called no driver.
func InConflict(
	ctx context.Context, repo *gitint.Repo, dir string,
) ([]check.Finding, error) {
	cases, err := merge.Cases(ctx, repo, dir)
	if err != nil {
		return nil, err
	}
	return lists.Map(cases, ConflictFinding), nil
}

// DirNames formats the directories of a conversation for a sentence, relative to the directory of
// all conversations.
func DirNames(dirs []string) string {
	var all []string
	for _, dir := range dirs {
		_, name, _ := strings.Cut("/"+dir, "/"+workspace.DirName+"/conversations/")
		all = append(all, name)
	}
	return strings.Join(all, " and ")
}

// ConflictFinding returns the finding for a case that a person has to decide.
func ConflictFinding(c merge.Case) check.Finding {
	f := check.Finding{
		State: check.Conflicted, Severity: check.Error, Path: c.Path, Element: -1,
		Next: "git jp resolve",
	}
	if id, ok := workspace.PathID(c.Path); ok || c.Kind == merge.Beside {
		if !ok {
			id = c.ID
		}
		if id != 0 {
			f.Conversation = id.String()
			f.Next += " " + f.Conversation
		}
	}
	switch {
	case c.Kind == merge.Beside:
		f.Detail = c.Path + " is unmerged: 'git jp resolve' decides it"
	case c.Kind == merge.Directories:
		f.Path = path.Dir(c.Path)
		f.Detail = "has another directory on each side: " + DirNames(c.Dirs)
	case c.Record != nil:
		f.Detail = "has " + render.Count(len(c.Record.Conflicts), "conflict") + " to decide"
	case c.Deleted():
		f.Detail = "was deleted on one side and changed on the other"
	default:
		f.Detail = "is unmerged"
	}
	return f
}
