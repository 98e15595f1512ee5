package staging

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stage"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A StatusRecord is one conversation between HEAD, the index and the working tree, in JSON.
type StatusRecord struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Staged   string   `json:"staged,omitempty"`   // added, changed or removed
	Unstaged string   `json:"unstaged,omitempty"` // new, changed or removed
	Files    []string `json:"files,omitempty"`    // not staged
	Removed  []string `json:"removed,omitempty"`  // not staged
	Blobs    int      `json:"blobs,omitempty"`    // not staged
	Beside   []string `json:"beside,omitempty"`   // changed files outside its directory
	Findings []string `json:"findings,omitempty"`

	unmerged []string // findings with which 'git jp resolve' helps
}

// Status returns the conversations of a workspace that differ from HEAD, or are incomplete. Their
// findings are phrased by a printer; findings about no conversation are returned.
func Status(
	ctx context.Context, req stage.Request, w *workspace.Workspace, said check.Printer,
) (sorted []*StatusRecord, others []check.Finding, err error) {
	req.NoContent = true
	plan, err := stage.NewPlan(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	lost, err := missing(ctx, req, plan)
	if err != nil {
		return nil, nil, err
	}
	conflicts, err := audit.InConflict(ctx, req.Repo, req.Dir)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		conflicts, err = append(conflicts, check.Refused(at.Path, err)), nil
	}
	if err != nil {
		return nil, nil, err
	}
	all := records{}
	all.addPlan(plan)
	for _, f := range slices.Concat(plan.Report.Findings, lost, conflicts) {
		all.addFinding(f, said)
	}
	sorted = slices.SortedFunc(maps.Values(all), func(x, y *StatusRecord) int {
		return cmp.Compare(x.ID, y.ID)
	})
	all.entitle(ctx, req.Repo, w, plan.Staged)
	var about check.Report // has each once
	for _, f := range slices.Concat(plan.Report.Findings, lost, conflicts) {
		if f.Conversation == "" {
			about.Add(f)
		}
	}
	return sorted, about.Findings, nil
}

// missing returns what is missing because files of the store were deleted. The plan does not see
// that for conversations that did not change.
func missing(
	ctx context.Context, req stage.Request, plan *stage.Plan,
) ([]check.Finding, error) {
	if len(plan.Lost) == 0 {
		return nil, nil
	}
	src, err := check.OpenWorkTree(req.Repo.Root(), req.Repo.Limits())
	if err != nil {
		return nil, err
	}
	left, err := check.LeftOutOf(ctx, req.Repo, req.Repo.Root())
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	report, err := check.Tree(ctx, src, check.Options{
		Dirs: []string{req.Dir}, Cache: req.Cache, LeftOut: left,
	})
	if err = errors.Join(err, src.Close()); err != nil {
		return nil, err
	}
	return report.Findings, nil
}

// records are by the id of their conversation.
type records map[string]*StatusRecord

func (all records) of(id string) *StatusRecord {
	r, ok := all[id]
	if !ok {
		r = &StatusRecord{ID: id}
		all[id] = r
	}
	return r
}

// addPlan adds what is staged, and what would be.
func (all records) addPlan(plan *stage.Plan) {
	for _, s := range plan.Staged {
		if id, ok := workspace.PathID(s.Path); ok && s.Status != 'U' {
			r := all.of(id.String())
			r.Staged = stagedWord(r.Staged, s)
		}
	}
	for _, item := range plan.Items {
		r := all.of(item.ID.String())
		r.Title = cmp.Or(item.Title, r.Title)
		r.Unstaged, r.Files, r.Blobs = unstagedWord(item), item.Files, item.Blobs
		r.Removed, r.Beside = item.Removed, item.Beside
	}
}

func (all records) addFinding(f check.Finding, said check.Printer) {
	if f.Severity == check.Note || f.Conversation == "" {
		return
	}
	r, sentence := all.of(f.Conversation), said.About(f)
	r.Title = cmp.Or(r.Title, f.Title)
	if !slices.Contains(r.Findings, sentence) {
		r.Findings = append(r.Findings, sentence)
		if f.State == check.Conflicted {
			r.unmerged = append(r.unmerged, sentence)
			r.Unstaged = "" // it cannot be staged before that is resolved
		}
	}
}

// incomplete returns the findings with which 'git jp check' helps.
func (r *StatusRecord) incomplete() []string {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(sentence string) bool {
		return slices.Contains(r.unmerged, sentence)
	})
}

// entitle gives records their title, from the working tree, or from HEAD for removed conversations.
func (all records) entitle(
	ctx context.Context, repo *gitint.Repo, w *workspace.Workspace, staged []gitint.StagedPath,
) {
	untitled := records{}
	for id, r := range all {
		if r.Title == "" {
			untitled[id] = r
		}
	}
	if len(untitled) == 0 {
		return
	}
	// A conversation that cannot be listed or read has no title here; other commands report the
	// error.
	entries, _, _ := w.List(workspace.ListOptions{Archived: true})
	for _, e := range entries {
		if r, ok := untitled[e.ID.String()]; ok {
			r.Title = w.Title(e)
		}
	}
	for _, s := range staged {
		id, _ := workspace.PathID(s.Path)
		r, ok := untitled[id.String()]
		if !ok || r.Title != "" || s.Status != 'D' || path.Base(s.Path) != workspace.MetadataFile {
			continue
		}
		data, err := repo.ReadObject(ctx, s.Old, 0)
		if err != nil {
			continue
		}
		d, _ := events.DecodeDetails(data)
		r.Title = d.Name()
	}
}

// stagedWord says what happens to a conversation in the next commit. A renamed one has removed and
// added paths, and is changed.
func stagedWord(before string, s gitint.StagedPath) string {
	word := map[byte]string{'A': "added", 'D': "removed"}[s.Status]
	switch {
	case word == "":
		return "changed"
	case before == "" || before == word:
		return word
	default:
		return "changed"
	}
}

func unstagedWord(item stage.Item) string {
	switch {
	case item.Path == "" && len(item.Removed) > 0:
		return "removed"
	case item.New:
		return "new"
	default:
		return "changed"
	}
}

// PrintStatus prints a status for people.
func PrintStatus(p *render.Printer, all []*StatusRecord) error {
	if len(all) == 0 {
		p.Note("nothing to stage")
		return nil
	}
	staged := func(r *StatusRecord) string { return r.Staged }
	unstaged := func(r *StatusRecord) string { return r.Unstaged }
	return errors.Join(
		printWords(p, "Staged (undo with 'git jp unstage <id>'):", all, staged),
		printWords(p, "Not staged ('git jp stage <id>', or 'git jp stage --changed' for all):",
			all, unstaged),
		// Without these files, redacted or removed text comes back; git only names their directory.
		printLists(p, "Not staged beside conversations:", all,
			func(r *StatusRecord) []string { return r.Beside }),
		printLists(p, "Unmerged ('git jp resolve' shows both sides):", all,
			func(r *StatusRecord) []string { return r.unmerged }),
		printLists(p, "Incomplete ('git jp check' says what helps):", all,
			(*StatusRecord).incomplete))
}

// printWords prints the conversations that have a word, below a heading, in one write: there may be
// thousands.
func printWords(
	p *render.Printer, head string, all []*StatusRecord, word func(*StatusRecord) string,
) error {
	var text bytes.Buffer
	for _, r := range all {
		if word(r) == "" {
			continue
		}
		if text.Len() == 0 {
			text.WriteString(head + "\n")
		}
		line := p.Output.Line(fmt.Sprintf("%-8s %s  %s", word(r), r.ID, r.Title))
		text.WriteString("  " + line + "\n")
	}
	if text.Len() == 0 {
		return nil
	}
	_, err := p.Out.Write(text.Bytes())
	return err
}

// maxFindings is how many findings, or files, of a conversation a status prints.
const maxFindings = 3

// printLists prints a list for each conversation below a heading, only the first entries of a long
// one.
func printLists(
	p *render.Printer, head string, all []*StatusRecord, list func(*StatusRecord) []string,
) error {
	head += "\n"
	for _, r := range all {
		for i, text := range list(r) {
			if more := len(list(r)) - i; i == maxFindings && more > 1 && !p.Verbose {
				text = fmt.Sprintf("and %d more", more)
			} else if i > maxFindings && !p.Verbose {
				break
			}
			line := p.Output.Line(fmt.Sprintf("%s  %s", r.ID, text))
			if _, err := fmt.Fprintf(p.Out, "%s  %s\n", head, line); err != nil {
				return err
			}
			head = ""
		}
	}
	return nil
}
