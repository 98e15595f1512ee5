package stage

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/merge"
)

// secretsOf finds the secrets of a source that neither HEAD nor the commits being merged have:
// those that a commit would bring.
type secretsOf struct {
	repo    *gitint.Repo
	tracked func(name string) bool // by git
	options leaks.Options
	source  check.Source
	// added says that HEAD has none of the conversations, entered that a merge brings redaction
	// entries, which hold for every conversation.
	added, entered bool
}

// addTo reports them.
func (r *secretsOf) addTo(ctx context.Context, report *check.Report) error {
	o := r.options
	o.Tracked = r.tracked
	s := leaks.NewScanner(o)
	heads, merged, err := r.known(ctx)
	if err == nil {
		err = r.each(ctx, heads, s.Skip)
	}
	if err == nil {
		err = r.each(ctx, merged, s.SkipMerged)
	}
	if err != nil {
		return err
	}
	err = s.Scan(ctx, r.source)
	if err == nil && r.entered {
		err = s.Revisit(ctx, r.source)
	}
	if err == nil {
		s.Report(report)
	}
	return err
}

// each calls f with the trees of revisions, as far as they are here.
func (r *secretsOf) each(
	ctx context.Context, revs []string, f func(context.Context, check.Source) error,
) error {
	for _, rev := range revs {
		tree, err := gitint.OrNone(r.repo.Tree(ctx, rev))
		if tree != nil && err == nil {
			err = f(ctx, check.Git(r.repo, tree))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// known returns the commits whose secrets are committed already: HEAD, unless it has none of the
// conversations, and those that are merged. Before git has written MERGE_HEAD it names the commits
// that it merges in the environment.
func (r *secretsOf) known(ctx context.Context) (heads, merged []string, err error) {
	if !r.added {
		head, err := r.repo.Head(ctx)
		if err != nil {
			return nil, nil, err
		}
		if !head.Peeled.IsZero() {
			heads = append(heads, head.Peeled.String())
		}
	}
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD"} {
		beside, err := r.repo.HeadsBeside(name)
		if err != nil {
			return nil, nil, err
		}
		merged = append(merged, lists.Map(beside, gitint.OID.String)...)
	}
	for _, kv := range r.repo.Env() {
		name, _, _ := strings.Cut(kv, "=")
		if id, ok := strings.CutPrefix(name, "GITHEAD_"); ok && !slices.Contains(merged, id) {
			merged = append(merged, id)
		}
	}
	return heads, merged, nil
}

// enter records a redaction entry that a commit brings of what git combined.
func (c *commit) enter(p gitint.StagedPath) {
	dir, _, ok := leaks.IsRedaction(p.Path)
	if ok && p.Status == 'A' && (c.hook.TreeMade || merge.Completes(c.hook.Repo)) {
		c.entered[dir] = true
	}
}

// secrets reports the secrets that the commit would bring.
func (c *commit) secrets(ctx context.Context, v *Verdict) error {
	report := &check.Report{}
	dirs := maps.Clone(c.dirs)
	for dir := range c.entered {
		dirs[dir] = c.dirs[dir]
	}
	var own leaks.Options
	if c.hook.Secrets != nil && len(dirs) > 0 {
		own = c.hook.Secrets()
	}
	for dir, ids := range dirs {
		o, entered := own, c.entered[dir]
		o.Dirs, o.MaxBlobBytes = []string{dir}, c.hook.of(dir).MaxBlobBytes
		o.Select = func(id events.ID) bool { return ids[id] }
		tracked := func(name string) bool {
			_, ok := c.index.OID(name)
			return ok
		}
		s := secretsOf{
			c.hook.Repo, tracked, o, check.Git(c.hook.Repo, c.index),
			c.added && !entered, entered,
		}
		if err := s.addTo(ctx, report); err != nil {
			return err
		}
	}
	for _, f := range report.Findings {
		// The hook after a merge unites the directories of a conversation without redacted text.
		united := c.hook.TreeMade && f.State == check.Unredacted &&
			slices.ContainsFunc(v.Others, func(o check.Finding) bool {
				return o.State == check.DuplicateID && o.Conversation == f.Conversation
			})
		if f.Severity == check.Error && !united {
			v.Blocking = append(v.Blocking, f)
		} else {
			v.Others = append(v.Others, f)
		}
	}
	return nil
}
