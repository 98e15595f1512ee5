package gitint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A FetchError says that a remote did not give objects that it has promised.
type FetchError struct {
	Remote  string // "" where there is none, or none was asked
	Objects int    // that were asked for
	Err     error
}

// Error names the remote and what git said last.
func (e *FetchError) Error() string {
	what := "fetch 1 object"
	if e.Objects != 1 {
		what = fmt.Sprintf("fetch %d objects", e.Objects)
	}
	switch {
	case e.Remote == "" && e.Err != nil:
		return fmt.Sprintf("%s: %v", what, e.Err)
	case e.Remote == "":
		return what + ": no remote has promised any"
	}
	said := ""
	if exit, ok := errors.AsType[*ExitError](e.Err); ok {
		lines := strings.Split(exit.Stderr, "\n")
		said = ": " + lines[0]
	} else if e.Err != nil {
		said = ": " + e.Err.Error()
	}
	return fmt.Sprintf("%s from %s%s", what, e.Remote, said)
}

// Unwrap returns the error of git.
func (e *FetchError) Unwrap() error { return e.Err }

// Partial reports whether a remote has promised objects that need not be here.
func (r *Repo) Partial(ctx context.Context) (bool, error) {
	s, err := r.shape(ctx)
	if err != nil {
		return false, err
	}
	return s.partial, nil
}

// Need fetches those of the objects that are not here, and are about to be read, where this is a
// partial clone. In another one reading them says what is lost.
func (r *Repo) Need(ctx context.Context, ids []OID) error {
	if partial, err := r.Partial(ctx); err != nil || !partial {
		return err
	}
	return r.Bring(ctx, ids, 0)
}

// NeedTrees fetches, in one request, the directories of commits that are not here: a partial clone
// need not have been made with them.
func (r *Repo) NeedTrees(ctx context.Context, commits ...OID) error {
	from := []string{"--no-walk"}
	for _, id := range commits {
		if !id.IsZero() {
			from = append(from, id.String())
		}
	}
	_, err := r.bringTrees(ctx, from)
	return err
}

// bringTrees fetches the directories that git finds missing on the way from some revisions, and
// with them what is below, and reports whether there were any. None are missing where git cannot
// say.
func (r *Repo) bringTrees(ctx context.Context, from []string) (bool, error) {
	partial, err := r.Partial(ctx)
	if err != nil || !partial {
		return false, err
	}
	out, err := r.run(ctx, command{args: append([]string{
		"rev-list", "--objects", "--no-object-names", "--missing=print", "--filter=blob:none",
	}, from...)})
	if err != nil {
		return false, ctx.Err()
	}
	var missing []OID
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(line, "?"); ok {
			id, err := ParseOID(strings.TrimSpace(name))
			if err != nil {
				return false, err
			}
			missing = append(missing, id)
		}
	}
	return len(missing) > 0, r.Bring(ctx, missing, 0)
}

// Bring fetches those of the objects that are not here from the remotes that have promised them:
// all in one request, without a change of any ref. What it brings is in packs of git's own, and
// all of it or nothing. How large it is may be said, for who is told of it. The error is a
// *FetchError.
func (r *Repo) Bring(ctx context.Context, ids []OID, bytes int64) error {
	missing, err := r.missing(ctx, ids)
	if err != nil || len(missing) == 0 {
		return err
	}
	if r.fetch != nil {
		if err := r.fetch(len(missing), bytes); err != nil {
			return &FetchError{Objects: len(missing), Err: err}
		}
	}
	s, err := r.shape(ctx)
	if err != nil {
		return err
	}
	failed := &FetchError{Objects: len(missing)}
	for _, remote := range s.promisors {
		failed.Remote = remote
		missing, failed.Err = r.bringFrom(ctx, remote, missing)
		if len(missing) == 0 {
			return r.joinPromised(ctx)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if failed.Err == nil && failed.Remote != "" {
		failed.Err = &MissingObjectError{OID: missing[0], Promised: true}
	}
	return failed
}

// mostAbsent is how many objects that a remote does not have are left out of a request.
const mostAbsent = 8

// bringFrom asks one remote and returns what is still missing. A remote that lacks an object
// refuses the whole request, and names it: the others are asked for once more without it.
func (r *Repo) bringFrom(
	ctx context.Context, remote string, ids []OID,
) (missing []OID, failure error) {
	asked := ids
	for range mostAbsent {
		err := r.fetchObjects(ctx, remote, asked)
		if failure == nil {
			failure = err
		}
		absent := refusedIDs(err, asked)
		if err == nil || ctx.Err() != nil || len(absent) == 0 || len(absent) == len(asked) {
			break
		}
		asked = slices.DeleteFunc(slices.Clone(asked), func(id OID) bool {
			return slices.Contains(absent, id)
		})
	}
	missing, err := r.missing(ctx, ids)
	return missing, errors.Join(failure, err)
}

// refusedIDs returns which objects git names where it says why it failed.
func refusedIDs(err error, ids []OID) (named []OID) {
	exit, ok := errors.AsType[*ExitError](err)
	if !ok {
		return nil
	}
	for _, id := range ids {
		if strings.Contains(exit.Stderr, id.String()) {
			named = append(named, id)
		}
	}
	return named
}

// fetchObjects is how git itself fetches what is missing in a partial clone.
func (r *Repo) fetchObjects(ctx context.Context, remote string, ids []OID) error {
	var names strings.Builder
	for _, id := range ids {
		names.WriteString(id.String() + "\n")
	}
	return r.remotely(ctx, nil, []byte(names.String()),
		"-c", "fetch.negotiationAlgorithm=noop", "-c", "core.hooksPath=/dev/null",
		"fetch", remote, "--quiet", "--no-tags", "--no-write-fetch-head",
		"--recurse-submodules=no", "--filter=blob:none", "--stdin")
}

// missing returns the objects that are not here, each once.
func (r *Repo) missing(ctx context.Context, ids []OID) ([]OID, error) {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, OID.compare)
	missing, err := r.HasObject(ctx, slices.Compact(ids))
	if err != nil {
		return nil, fmt.Errorf("look for %d objects: %w", len(ids), err)
	}
	return missing, nil
}
