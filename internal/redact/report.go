package redact

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Session redacts interactively: it stages the changes, and prints them and the remaining work.
type Session struct {
	Tracked

	Printer *render.Printer
	// Short shortens the name of a file for a person.
	Short func(name string) string
	// Restage stages the current state of conversations and all entries. In the same change it
	// removes the gone blobs that the index does not refer to any more. It returns the paths that
	// changed.
	Restage func(ctx context.Context, ids []events.ID, gone []blobs.Hash) ([]string, error)
}

// A Record is the result as JSON.
type Record struct {
	Conversations []string `json:"conversations"`
	Entries       []string `json:"entries"`
	Replaced      int      `json:"replaced"`
	Dropped       int      `json:"dropped"`
	Removed       []string `json:"removed"`
	Kept          []string `json:"kept"`
	Commits       []string `json:"commits"`
	// Staged are the paths that changed in the index.
	Staged []string `json:"staged"`
	// Left lists files that still have the target, and Unread counts blobs that could not be read.
	Left   []string `json:"left,omitempty"`
	Unread int      `json:"unread,omitempty"`
}

// Take redacts targets one after the other. It reports whether they are gone from all files that
// could be read. It stops after the first target that remains somewhere. It also completes an
// earlier redaction that was stopped.
func (s Session) Take(ctx context.Context, targets []Target) (gone bool, err error) {
	idle := true
	for _, t := range targets {
		did, gone, err := s.take(ctx, t)
		if err != nil || !gone {
			return gone, err
		}
		idle = idle && !did
	}
	if idle {
		s.Printer.Note("nothing to redact")
	}
	return true, nil
}

func (s Session) take(ctx context.Context, t Target) (did, gone bool, err error) {
	res, err := s.Redact(ctx, t)
	if err == nil {
		return s.finish(ctx, t, res)
	}
	if res != nil && len(res.Conversations) > 0 {
		s.Printer.Note("redacted %s and staged nothing yet; run the command again to continue",
			render.Count(len(res.Conversations), "conversation"))
	}
	return false, false, err
}

// Resume completes earlier redactions that were stopped. It reports whether there was one.
func (s Session) Resume(ctx context.Context) (did bool, err error) {
	did, _, err = s.take(ctx, Target{})
	return did, err
}

// Again applies the entries of the workspace to conversations before they are staged. It returns
// the removed blobs, which are to be removed from the index in the same change.
func (s Session) Again(ctx context.Context, ids []events.ID) ([]blobs.Hash, error) {
	res, err := s.Apply(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("redact again: %w", err)
	}
	if len(res.Conversations) > 0 {
		if err := s.forgetCache(); err != nil {
			return nil, fmt.Errorf("redact again: %w", err)
		}
	}
	for _, id := range res.Conversations {
		s.Printer.Note("redacted %s again; 'git jp redact --undo %s' restores it", id, id)
	}
	return res.Gone, nil
}

// HasEntries reports whether the workspace has entries of redactions, or they cannot be listed.
func HasEntries(w *workspace.Workspace) bool {
	names, err := fs.ReadDir(regular.Dir(w.Dir()), secrets.RedactedDir)
	left, leftErr := w.LeftOutBelow(path.Join(workspace.DirName, secrets.RedactedDir))
	return err != nil && !errors.Is(err, fs.ErrNotExist) || len(names) > 0 ||
		leftErr != nil || len(left) > 0
}

// Restore restores the original of a conversation.
func (s Session) Restore(ctx context.Context, id events.ID) error {
	u, err := s.Undo(ctx, id)
	for _, what := range u.Stays {
		s.Printer.Warn("%s: %s and stays as it is", id, what)
	}
	if len(u.Stays) > 0 {
		s.Printer.Note("%s has what it was", s.Short(u.Former))
	}
	if err != nil {
		return err
	}
	s.Printer.Note("restored %s and removed %s; nothing else is staged", id,
		render.Count(len(u.Entries), "entry"))
	return nil
}

// finish stages the redacted files and prints the remaining work.
func (s Session) finish(ctx context.Context, t Target, res *Result) (did, gone bool, err error) {
	for _, err := range res.Skipped {
		s.Printer.Warn("not redacted: %v", err)
	}
	ids, err := s.Behind(ctx, t)
	if err != nil {
		return false, false, err
	}
	ids = slices.Compact(slices.Sorted(slices.Values(append(ids, res.Conversations...))))
	tracked, contents, err := s.inIndex(ctx, ids, res)
	if err != nil {
		return false, false, err
	}
	reach, err := s.History(ctx, ids, contents)
	if err != nil {
		return false, false, err
	}
	staged, err := s.Restage(ctx, tracked, res.Gone)
	if err != nil {
		return false, false, fmt.Errorf("stage the redacted conversations: %w", err)
	}
	left, err := s.StillThere(ctx, t)
	if err == nil && (t.Rule != "" || len(ids) > 0) {
		err = s.forgetCache()
	}
	if err != nil {
		return false, false, err
	}
	did = len(res.Conversations)+len(res.Removed)+len(res.Strays)+len(staged) > 0
	if did {
		err = s.print(t, report{res, reach, staged, left})
	}
	if err != nil {
		return false, false, err
	}
	gone, err = s.complete(ctx, left)
	return did, gone && (did || len(res.Skipped) == 0), err
}

// A report holds the result of a redaction and the remaining places.
type report struct {
	*Result
	reach  Reach
	staged []string
	left   *Left
}

// complete prints which files still have the target and how to remove it, and reports whether none
// does.
func (s Session) complete(ctx context.Context, left *Left) (bool, error) {
	if len(left.Places) == 0 && left.Unread == 0 {
		return true, nil
	}
	index, err := s.Repo.Index(ctx)
	if err != nil {
		return false, err
	}
	unmerged := map[events.ID]bool{}
	for _, p := range left.Places {
		if p.Unmerged {
			unmerged[p.ID] = true
		}
		s.Printer.Warn("%s", s.remains(index, p))
	}
	for _, id := range slices.Sorted(maps.Keys(unmerged)) {
		s.Printer.Warn("%s is unmerged and was not redacted: "+
			"'%s' decides the conflict; redact again after that", id, check.Resolve(id.String()))
	}
	if left.Unread > 0 {
		s.Printer.Warn("%s could not be read and may contain the text: "+
			"see 'git jp check --content'", render.Count(left.Unread, "blob"))
	}
	return false, nil
}

// remains says that a place has the target, and how to remove it.
func (s Session) remains(index *gitint.Index, p Place) string {
	name := strings.ReplaceAll(p.Path, "\n", `\n`) // one line for each place
	text := name + " still contains the text"
	if p.Tree == check.IndexName && !strings.HasPrefix(p.Path, ":") {
		text = "the index still contains the text in " + name
	}
	remove := "rm " + check.ShellQuote(
		s.Short(filepath.Join(s.Repo.Root(), filepath.FromSlash(p.Path))))
	switch {
	case p.Unread:
		return s.Short(p.Path) + " cannot be read and may contain the text; to remove it: rm -r " +
			check.ShellQuote(s.Short(p.Path))
	case p.Copied:
		return s.Short(p.Path) + " still contains the text, and 'git jp gc undo' may bring it" +
			" back; to remove it: rm -r " + check.ShellQuote(s.Short(p.Path))
	case p.Noted:
		return s.Short(p.Path) + " still contains the text; to remove it: rm " +
			check.ShellQuote(s.Short(p.Path))
	case p.Unmerged:
		return text
	case strings.HasPrefix(p.Path, ":"):
		return text + ": " + s.decide(p.Path[len(":1:"):]) + "; redact again after that"
	case p.Stashed:
		return text + ": a stash may refer to it; redact again after 'git stash pop' or" +
			" 'git stash drop'"
	case p.Label != "":
		return text + " in the label " + p.Label +
			", which identifies the agent session and is not redacted"
	case p.Leftover && !p.Kept && strings.HasPrefix(path.Base(p.Path), atomicfile.Marked):
		return text + ": a killed process left it, and it may be the only copy of changes of " +
			"another program; look at it, then " + remove
	case p.Leftover:
		return text + ": a killed process left it; to remove it: " + remove
	case p.Tree == check.IndexName:
		return text + ": " + s.next(index, p)
	default:
		return text + ": remove it by hand"
	}
}

// decide returns a hint that says how to decide the conflict in a file of no conversation.
func (s Session) decide(name string) string {
	if strings.HasPrefix(name, path.Join(s.Dir, blobs.Dir)+"/") {
		return "'" + check.Resolve("") + "' decides the conflict"
	}
	return "decide the conflict in the file, then git add -- " + check.Pathspec(name)
}

// next returns a hint that says how to remove a place from the index.
func (s Session) next(index *gitint.Index, p Place) string {
	if p.ID == 0 {
		return "to stage the version in the working tree: git add -- " +
			check.Pathspec(p.Path)
	}
	_, err := s.Workspace.Find(p.ID.String(), workspace.FindOptions{
		ListOptions: workspace.ListOptions{Archived: true},
	})
	leftOut := slices.ContainsFunc(index.Pinned(), func(name string) bool {
		id, ok := workspace.PathIDIn(s.Dir, name)
		return ok && id == p.ID
	})
	switch {
	case err == nil:
		return fmt.Sprintf("'git jp stage %s' stages the version in the working tree", p.ID)
	case leftOut:
		return fmt.Sprintf("the sparse checkout leaves out %s: "+
			"run 'git sparse-checkout disable' and redact again", p.ID)
	default:
		return fmt.Sprintf("the working tree does not have %s: "+
			"'git jp stage %s' removes it from the index", p.ID, p.ID)
	}
}

// print prints the changes.
func (s Session) print(t Target, r report) error {
	p := s.Printer
	if p.JSON {
		return p.Records(r.record())
	}
	text := fmt.Sprintf("redacted %s in %s", render.Count(r.Replaced, "text"),
		render.Count(len(r.Conversations), "conversation"))
	if r.Dropped > 0 {
		text += fmt.Sprintf(", and dropped %d with signed or encrypted reasoning", r.Dropped)
	}
	switch n := len(r.Strays); {
	case len(r.Conversations) > 0:
	case n > 0:
		text = "removed " + render.Count(n, "blob") + " to which nothing refers"
	default:
		text = "completed an earlier redaction"
		if len(r.left.Places)+r.left.Unread > 0 {
			text = "continued an earlier redaction"
		}
		if n := len(r.staged); n > 0 {
			text += ": staged " + render.Count(n, "path")
		}
	}
	if _, err := fmt.Fprintln(p.Out, text); err != nil {
		return err
	}
	for _, id := range r.Conversations {
		p.Note("the original of %s is quarantined: 'git jp redact --undo %s' restores it",
			id, id)
	}
	if n := len(r.Strays); n > 0 {
		p.Note("%s to which nothing referred: quarantined; 'git jp gc undo %s' restores it all",
			render.Count(n, "blob"), r.StraysKept)
	}
	return s.history(t, r.reach)
}

func (r report) record() Record {
	list := func(s []string) []string { return append([]string{}, s...) }
	rec := Record{
		Entries: list(r.Entries), Replaced: r.Replaced, Dropped: r.Dropped,
		Kept: list(r.Kept), Commits: list(r.reach.Commits), Staged: list(r.staged),
		Conversations: lists.Map(r.Conversations, events.ID.String),
		Removed:       lists.Map(r.Removed, blobs.Hash.String), Unread: r.left.Unread,
	}
	for _, p := range r.left.Places {
		rec.Left = append(rec.Left, p.Path)
	}
	return rec
}
