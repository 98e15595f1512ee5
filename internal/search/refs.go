package search

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Version is a conversation as the working tree or a ref has it.
type Version struct {
	ID       events.ID
	Title    string
	Labels   map[string]string
	Ref      string // "" for the working tree
	Stream   *events.Stream
	Contents blobs.Reader
}

// Refs are all versions of conversations that the tips of refs have.
type Refs struct {
	Repo     *gitint.Repo
	Wanted   map[events.ID]bool // nil for all
	Archived bool               // archived ones are among all
	Problem  func(error)        // what cannot be read is reported
}

// Each calls f with every version of a conversation that some ref's tip has, each
// distinct stream once, under the first ref that has it.
func (r Refs) Each(ctx context.Context, f func(Version) error) error {
	refs, err := r.Repo.Refs(ctx)
	if err != nil {
		return err
	}
	finder := gitint.NewDirFinder(workspace.DirName)
	trees := map[gitint.OID]bool{}
	run := refsRun{r, f, map[gitint.OID]bool{}}
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
		if err := run.tree(ctx, ref.Name, dirs, tree); err != nil {
			return err
		}
	}
	return nil
}

// A refsRun goes through the trees of all refs.
type refsRun struct {
	Refs

	do   func(Version) error
	seen map[gitint.OID]bool // streams
}

func (r refsRun) tree(
	ctx context.Context, ref string, dirs []string, tree *gitint.Tree,
) error {
	for _, dir := range dirs {
		entries, _, err := workspace.Scan(tree, dir)
		if err != nil {
			return err
		}
		reader := blobs.FS(gitint.Sub(tree, dir+"/"+blobs.Dir), 0)
		for _, e := range entries {
			oid, ok := tree.OID(streamPath(e))
			if r.seen[oid] || !ok || !r.wants(e) {
				continue
			}
			r.seen[oid] = true
			if err := r.version(ctx, ref, tree, e, reader); err != nil {
				return err
			}
		}
	}
	return nil
}

func streamPath(e workspace.Entry) string {
	if e.Legacy {
		return e.Path + "/" + workspace.MessagesFile
	}
	return e.Path + "/" + workspace.EventsFile
}

// wants reports whether a conversation of a ref is to be searched. One that was named
// is, wherever it lies.
func (r Refs) wants(e workspace.Entry) bool {
	if r.Wanted != nil {
		return r.Wanted[e.ID]
	}
	return e.Partition == workspace.Live || r.Archived
}

// version searches a conversation as one ref has it.
func (r refsRun) version(
	ctx context.Context, ref string, tree *gitint.Tree, e workspace.Entry, reader blobs.Reader,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	conv, err := workspace.Read(tree, e)
	if err != nil {
		r.Problem(fmt.Errorf("read %s: %w", ref, err))
		return nil
	}
	return r.do(Version{
		ID: e.ID, Title: conv.Title(), Labels: conv.Details.Labels, Ref: ref,
		Stream: conv.Stream, Contents: reader,
	})
}
