package gitint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/internal/lists"
)

// A FetchError reports that a remote did not provide objects that it has promised.
type FetchError struct {
	Remote  string // "" if there is none, or none was asked
	Objects int    // number of objects requested
	Err     error
}

// Error names the remote and the line in which git says why.
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
		said = ": " + exit.Reason()
	} else if e.Err != nil {
		said = ": " + e.Err.Error()
	}
	return fmt.Sprintf("%s from %s%s", what, e.Remote, said)
}

// Unwrap returns the error of git.
func (e *FetchError) Unwrap() error { return e.Err }

// Partial reports whether a remote has promised objects that may be missing here.
func (r *Repo) Partial(ctx context.Context) (bool, error) {
	s, err := r.shape(ctx)
	return err == nil && s.partial, err
}

// Need fetches those of the objects that are missing in a partial clone, before they are read. In
// other repositories reading them reports what is lost.
func (r *Repo) Need(ctx context.Context, ids []OID) error {
	if partial, err := r.Partial(ctx); err != nil || !partial {
		return err
	}
	return r.Bring(ctx, ids, 0)
}

// NeedTrees fetches, in one request, the missing directories of commits: a partial clone may have
// been made without trees.
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

// bringTrees fetches the directories that git finds missing from some revisions, and everything
// below them, and reports whether there were any. If git cannot list missing objects, there are
// none.
func (r *Repo) bringTrees(ctx context.Context, from []string) (bool, error) {
	partial, err := r.Partial(ctx)
	if err != nil || !partial {
		return false, err
	}
	missing, err := r.listMissing(ctx, append([]string{"--filter=blob:none"}, from...)...)
	if err != nil {
		return false, ctx.Err()
	}
	return len(missing) > 0, r.Bring(ctx, missing, 0)
}

// listMissing returns the objects that git finds missing among those reachable from some revisions.
func (r *Repo) listMissing(ctx context.Context, revs ...string) (missing []OID, err error) {
	args := []string{"rev-list", "--objects", "--no-object-names", "--missing=print"}
	err = r.eachLine(ctx, git.Command{Args: append(args, revs...)}, func(line string) error {
		name, ok := strings.CutPrefix(line, "?")
		if !ok {
			return nil
		}
		id, err := ParseOID(name)
		missing = append(missing, id)
		return err
	})
	return missing, err
}

// Bring fetches those of the objects that are missing from the remotes that have promised them: in
// one request, without changing any ref. The objects are in packs written by git, all or none.
// bytes is their size for progress reports, 0 if unknown. The error is a *FetchError.
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
			_ = r.joinPromised(ctx) // everything is here; the next request tries it again
			return ctx.Err()
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

// A remote that lacks an object refuses the whole request, and names that one. absentInOne limits
// how many are removed from one request before its halves are requested, and mostRequests how many
// requests are made.
const (
	absentInOne  = 32
	mostRequests = 128
)

// bringFrom asks one remote and returns what is still missing.
func (r *Repo) bringFrom(
	ctx context.Context, remote string, ids []OID,
) (missing []OID, failure error) {
	left := mostRequests
	failure = r.bringPart(ctx, remote, ids, &left)
	missing, err := r.missing(ctx, ids)
	return missing, errors.Join(failure, err)
}

// bringPart requests objects, again without those that the remote lacks, and if these are many, in
// halves, until no request is left. It returns the first failure.
func (r *Repo) bringPart(
	ctx context.Context, remote string, asked []OID, left *int,
) (failure error) {
	for range absentInOne {
		if *left == 0 || len(asked) == 0 {
			return failure
		}
		*left--
		err := r.fetchObjects(ctx, remote, asked)
		if failure == nil {
			failure = err
		}
		absent := refusedIDs(err, asked)
		if err == nil {
			return failure
		}
		if ctx.Err() != nil || len(absent) == 0 {
			*left = 0 // that has another reason, which other requests have too
		}
		asked = slices.DeleteFunc(slices.Clone(asked), func(id OID) bool {
			return slices.Contains(absent, id)
		})
	}
	half := len(asked) / 2
	first := r.bringPart(ctx, remote, asked[:half], left)
	second := r.bringPart(ctx, remote, asked[half:], left)
	return cmp.Or(failure, first, second)
}

// refusedIDs returns the objects that git names in its error.
func refusedIDs(err error, ids []OID) []OID {
	exit, ok := errors.AsType[*ExitError](err)
	if !ok {
		return nil
	}
	return lists.Filter(ids, func(id OID) bool {
		return strings.Contains(exit.Stderr, id.String())
	})
}

// fetchObjects fetches as git itself fetches missing objects in a partial clone.
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

// missing returns the missing objects, without duplicates.
func (r *Repo) missing(ctx context.Context, ids []OID) ([]OID, error) {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, OID.Compare)
	missing, err := r.HasObject(ctx, slices.Compact(ids))
	if err != nil {
		return nil, fmt.Errorf("look for %d objects: %w", len(ids), err)
	}
	return missing, nil
}
