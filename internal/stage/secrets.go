package stage

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
)

// secretsOf finds the secrets of a source that neither HEAD nor the commits being merged have:
// those that a commit would bring.
type secretsOf struct {
	repo    *gitint.Repo
	tracked func(name string) bool // by git
	options leaks.Options
	source  check.Source
	// added says that HEAD has none of the conversations.
	added bool
}

// addTo reports them.
func (r *secretsOf) addTo(ctx context.Context, report *check.Report) error {
	repo, o := r.repo, r.options
	o.Tracked = r.tracked
	s := leaks.NewScanner(o)
	revs, err := r.known(ctx)
	if err != nil {
		return err
	}
	for _, rev := range revs {
		tree, err := repo.Tree(ctx, rev)
		if errors.Is(err, gitint.ErrUnknownRevision) {
			continue
		}
		if err == nil {
			err = s.Skip(ctx, check.Git(repo, tree))
		}
		if err != nil {
			return err
		}
	}
	if err := s.Scan(ctx, r.source); err != nil {
		return err
	}
	s.Report(report)
	return nil
}

// known returns the commits whose secrets are committed already. Before git has written MERGE_HEAD
// it names the commits that it merges in the environment.
func (r *secretsOf) known(ctx context.Context) (revs []string, err error) {
	if !r.added {
		head, err := r.repo.Head(ctx)
		if err != nil {
			return nil, err
		}
		if !head.Peeled.IsZero() {
			revs = append(revs, head.Peeled.String())
		}
	}
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD"} {
		heads, err := r.repo.HeadsBeside(name)
		if err != nil {
			return nil, err
		}
		for _, id := range heads {
			revs = append(revs, id.String())
		}
	}
	for _, kv := range r.repo.Env() {
		name, _, _ := strings.Cut(kv, "=")
		if id, ok := strings.CutPrefix(name, "GITHEAD_"); ok && !slices.Contains(revs, id) {
			revs = append(revs, id)
		}
	}
	return revs, nil
}

// secrets reports the secrets that the commit would bring.
func (c *commit) secrets(ctx context.Context, v *Verdict) error {
	report := &check.Report{}
	var own leaks.Options
	if c.hook.Secrets != nil && len(c.dirs) > 0 {
		own = c.hook.Secrets()
	}
	for dir, ids := range c.dirs {
		o := own
		o.Dirs, o.MaxBlobBytes = []string{dir}, c.hook.of(dir).MaxBlobBytes
		o.Select = func(id events.ID) bool { return ids[id] }
		tracked := func(name string) bool {
			_, ok := c.index.OID(name)
			return ok
		}
		s := secretsOf{c.hook.Repo, tracked, o, check.Git(c.hook.Repo, c.index), c.added}
		if err := s.addTo(ctx, report); err != nil {
			return err
		}
	}
	for _, f := range report.Findings {
		if f.Severity == check.Error {
			v.Blocking = append(v.Blocking, f)
		} else {
			v.Others = append(v.Others, f)
		}
	}
	return nil
}
