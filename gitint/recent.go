package gitint

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Recent returns the commits that the working tree may have files of: HEAD, ORIG_HEAD, the tips of
// branches and of remote-tracking ones, the latest stash, and where HEAD was before, the latest
// first; each once.
func (r *Repo) Recent(ctx context.Context) ([]OID, error) {
	var all []OID
	seen := map[OID]bool{}
	add := func(id OID) {
		if !id.IsZero() && !seen[id] {
			seen[id], all = true, append(all, id)
		}
	}
	for _, rev := range []string{headName, "ORIG_HEAD"} {
		if id, err := r.Resolve(ctx, rev); err == nil {
			add(id)
		}
	}
	refs, err := r.Refs(ctx)
	for _, ref := range refs {
		if strings.HasPrefix(ref.Name, remoteRefs) || strings.HasPrefix(ref.Name, branchRefs) ||
			ref.Name == stashRef {
			add(ref.Peeled)
		}
	}
	log, logErr := r.headLog(ctx)
	for _, e := range slices.Backward(log) {
		add(e.Is)
		add(e.Was)
	}
	return all, errors.Join(err, logErr)
}

// HasStash reports whether anything is stashed.
func (r *Repo) HasStash(ctx context.Context) (bool, error) {
	refs, err := r.Refs(ctx)
	return slices.ContainsFunc(refs, func(ref Ref) bool { return ref.Name == stashRef }), err
}
