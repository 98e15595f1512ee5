package search

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/ondemand"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Version is a conversation in the working tree or at the tip of a ref.
type Version struct {
	ID       events.ID
	Title    string
	Labels   map[string]string
	Ref      string // "" for the working tree
	Stream   *events.Stream
	Contents blobs.Reader
}

// Refs finds all versions of conversations at the tips of refs.
type Refs struct {
	Repo     *gitint.Repo
	Wanted   map[events.ID]bool // nil for all
	Archived bool               // all includes archived ones
	Contents bool               // blobs are read, not only streams
	Problem  func(error)        // is called for what cannot be read
}

// Each calls f with every version of a conversation at the tip of any ref, each distinct stream
// once, with the first ref that has it. In a partial clone, missing objects are fetched before: all
// conversations in one request, and the blobs that they refer to in another.
func (r Refs) Each(ctx context.Context, f func(Version) error) error {
	all, err := r.list(ctx)
	if err != nil {
		return err
	}
	if err := r.fetch(ctx, all); err != nil {
		r.Problem(err)
	}
	for _, at := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		conv, err := workspace.Read(at.Snapshot, at.Entry)
		if err != nil {
			r.Problem(fmt.Errorf("read %s: %w", at.ref, err))
			continue
		}
		err = f(Version{
			ID: at.ID, Title: conv.Title(), Labels: conv.Details.Labels, Ref: at.ref,
			Stream: conv.Stream, Contents: ondemand.Contents(at.Snapshot, at.Store),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A place is where a version is stored.
type place struct {
	ondemand.Place

	ref string
}

// list lists the versions.
func (r Refs) list(ctx context.Context) (all []place, err error) {
	refs, err := r.Repo.Refs(ctx)
	if err != nil {
		return nil, err
	}
	finder := gitint.NewDirFinder(workspace.DirName)
	trees, streams := map[gitint.OID]bool{}, map[gitint.OID]bool{}
	for _, ref := range refs {
		if trees[ref.Peeled] || ref.Peeled.IsZero() {
			continue
		}
		trees[ref.Peeled] = true
		tree, err := r.Repo.Tree(ctx, ref.Peeled.String())
		if err != nil {
			r.Problem(fmt.Errorf("read %s: %w", ref.Name, err))
			continue
		}
		dirs, err := finder.Find(tree)
		if err != nil {
			r.Problem(err)
			continue
		}
		found, err := r.tree(tree, dirs, streams)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			all = append(all, place{p, ref.Name})
		}
	}
	return all, nil
}

// tree lists the versions in a tree whose streams were not found before.
func (r Refs) tree(
	tree *gitint.Tree, dirs []string, streams map[gitint.OID]bool,
) (found []ondemand.Place, err error) {
	for _, dir := range dirs {
		entries, _, err := workspace.Scan(tree, dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			oid, ok := tree.OID(streamPath(e))
			if !ok || streams[oid] || !r.wants(e) {
				continue
			}
			streams[oid] = true
			found = append(found, ondemand.Place{
				Entry: e, Snapshot: tree, Store: dir + "/" + blobs.Dir,
			})
		}
	}
	return found, nil
}

// fetch fetches everything that will be read.
func (r Refs) fetch(ctx context.Context, all []place) error {
	places := lists.Map(all, func(at place) ondemand.Place { return at.Place })
	return ondemand.Fetch(ctx, r.Repo, r.Contents, places...)
}

func streamPath(e workspace.Entry) string {
	if e.Legacy {
		return e.Path + "/" + workspace.MessagesFile
	}
	return e.Path + "/" + workspace.EventsFile
}

// wants reports whether to search a conversation of a ref. One that was named is searched in any
// partition.
func (r Refs) wants(e workspace.Entry) bool {
	if r.Wanted != nil {
		return r.Wanted[e.ID]
	}
	return e.Partition == workspace.Live || r.Archived
}
