package gitint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/internal/lists"
)

// A Commit is one commit of a range.
type Commit struct {
	OID     OID
	Parents []OID
}

// Resolve returns the commit of a revision. The error is ErrUnknownRevision if there is none, also
// for the HEAD of a branch without a commit.
func (r *Repo) Resolve(ctx context.Context, rev string) (OID, error) {
	if rev == headName {
		if id, ok := r.headCommit(ctx); ok {
			return id, nil
		}
	}
	if strings.HasPrefix(rev, ":/") { // all that follows is what the message says
		return r.revParse(ctx, rev)
	}
	return r.revParse(ctx, rev+"^{"+object.KindCommit+"}")
}

// headCommit returns the commit of HEAD if that is a loose object: it is what hooks ask for most,
// and a process costs more than reading three files.
func (r *Repo) headCommit(ctx context.Context) (OID, bool) {
	id, ok := r.headInFiles(ctx)
	if !ok {
		return OID{}, false
	}
	db, err := r.db(ctx)
	if err != nil || db == nil {
		return OID{}, false
	}
	obj, err := db.Loose(id)
	return id, err == nil && obj.Kind == object.KindCommit
}

// OrNone returns the zero value in place of ErrUnknownRevision, such as nil for the tree of a HEAD
// without a commit.
func OrNone[T any](value T, err error) (T, error) {
	if errors.Is(err, ErrUnknownRevision) {
		return *new(T), nil
	}
	return value, err
}

// Parents returns the parents of a commit.
func (r *Repo) Parents(ctx context.Context, commit OID) (parents []OID, err error) {
	err = r.CommitHeads(ctx, []OID{commit}, func(_ int, h CommitHead) error {
		parents = h.Parents
		return nil
	})
	return parents, err
}

// Parent returns the first parent of a commit, zero for a root commit. cut is true if the commit
// has a parent that is missing, as in a shallow clone.
func (r *Repo) Parent(ctx context.Context, commit OID) (parent OID, cut bool, err error) {
	obj, err := r.readObject(ctx, commit, 0)
	if err != nil {
		return OID{}, false, err
	}
	h, err := object.ParseCommit(obj, commit)
	if err != nil || len(h.Parents) == 0 {
		return OID{}, false, err
	}
	if !r.shallow {
		return h.Parents[0], false, nil
	}
	parent, err = r.Resolve(ctx, commit.String()+"^1") // it respects the shallow boundary
	if errors.Is(err, ErrUnknownRevision) {
		return OID{}, true, nil
	}
	return parent, false, err
}

// revParse asks git for the object that a revision names.
func (r *Repo) revParse(ctx context.Context, rev string) (OID, error) {
	out, err := r.git.Run(ctx, git.Command{Args: []string{
		"rev-parse", "--verify", "--quiet", "--end-of-options", rev,
	}})
	switch git.ExitCode(err) {
	case 1: // git was asked to be quiet
		return OID{}, unknownRevision(strings.ReplaceAll(rev, "^{"+object.KindCommit+"}", ""))
	case 128:
		return OID{}, fmt.Errorf("%w (%w)", ErrUnknownRevision, err)
	}
	if err != nil {
		return OID{}, err
	}
	name := strings.TrimSuffix(string(out), "\n")
	if strings.HasPrefix(name, "^") { // ^A, which names what is not to be listed
		return OID{}, unknownRevision(rev)
	}
	return ParseOID(name)
}

func unknownRevision(rev string) error { return fmt.Errorf("%w %q", ErrUnknownRevision, rev) }

// objectID returns the object that a revision names. For an object id, and mostly for HEAD, it
// starts no process.
func (r *Repo) objectID(ctx context.Context, rev string) (OID, error) {
	if id, err := ParseOID(rev); err == nil {
		return id, nil
	}
	if rev == headName {
		id, ok := r.headInFiles(ctx)
		switch {
		case ok && id.IsZero():
			return OID{}, unknownRevision(rev)
		case ok:
			return id, nil
		}
	}
	return r.revParse(ctx, rev)
}

// treeID returns the tree of a revision. It does not let git peel, because a revision may end with
// a path.
func (r *Repo) treeID(ctx context.Context, rev string) (OID, error) {
	id, err := r.objectID(ctx, rev)
	if err != nil {
		return OID{}, err
	}
	for {
		obj, err := r.readObject(ctx, id, 0)
		if err != nil {
			return OID{}, err
		}
		var next string
		switch obj.Kind {
		case object.KindTree:
			return id, nil
		case object.KindCommit:
			next = object.KindTree
		case object.KindTag:
			next = "object"
		default:
			return OID{}, fmt.Errorf("%w: it is a %s", ErrUnknownRevision, obj.Kind)
		}
		if id, err = obj.Target(id, next); err != nil {
			return OID{}, err
		}
		if next == object.KindTree { // the caller asks for its entries, so it is read only once
			_, err := r.treeEntries(ctx, id)
			return id, err
		}
	}
}

// Commits returns the commits of revisions and ranges ("A..B", "^A", "B"), oldest first and no
// commit before its parents; those of a branch are consecutive, so that neighbours differ little.
// In a shallow repository they end at its boundary.
func (r *Repo) Commits(ctx context.Context, revs ...string) ([]Commit, error) {
	if len(revs) == 0 {
		return nil, nil
	}
	return r.revList(ctx, append([]string{"--end-of-options"}, revs...))
}

// A PushRange selects the commits that a push sends.
type PushRange struct {
	// Tips lead to the commits, and Not to commits that the receiver has, if they exist here.
	Tips, Not []string
	// Remote names the remote whose remote-tracking branches the receiver has; "" for no remote.
	Remote string
	// NotRefs excludes everything reachable from any ref of this repository, on a server that
	// receives a push.
	NotRefs bool
	// Under omits the commits that change nothing below these directories; see [Repo.StagedPaths]
	// for their meaning.
	Under []string
}

// PushedCommits returns the commits of a push, oldest first.
func (r *Repo) PushedCommits(ctx context.Context, d PushRange) ([]Commit, error) {
	if len(d.Tips) == 0 {
		return nil, nil
	}
	var args []string
	if len(d.Under) > 0 {
		// History simplification would skip a merge whose text is new.
		args = append(args, "--full-history")
	}
	if len(d.Not) > 0 {
		args = append(args, "--ignore-missing")
	}
	args = append(args, "--not")
	if d.Remote != "" {
		args = append(args, "--remotes="+d.Remote)
	}
	if d.NotRefs {
		args = append(args, "--all")
	}
	args = append(args, "--not", "--end-of-options")
	args = append(args, d.Tips...)
	for _, not := range d.Not {
		args = append(args, "^"+not)
	}
	return r.revList(ctx, args, d.Under...)
}

func (r *Repo) revList(ctx context.Context, args []string, under ...string) ([]Commit, error) {
	specs, env := pathspecs(under)
	args = append([]string{
		"rev-list", "--topo-order", "--reverse", "--format=tformat:%H %P",
	}, args...)
	args = append(append(args, "--"), specs...)
	return r.commitsOf(ctx, git.Command{Args: args, Env: env})
}

// commitsOf runs a rev-list with the format %H %P.
func (r *Repo) commitsOf(ctx context.Context, c git.Command) (commits []Commit, err error) {
	err = r.eachLine(ctx, c, func(line string) error {
		if strings.HasPrefix(line, "commit ") { // git writes it beside the line of the format
			return nil
		}
		ids, err := object.ParseIDs(line)
		if err == nil {
			commits = append(commits, Commit{OID: ids[0], Parents: ids[1:]})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	return commits, nil
}

// eachLine runs git and calls f with each line that it prints. An error of f ends git and is
// returned.
func (r *Repo) eachLine(ctx context.Context, c git.Command, f func(line string) error) error {
	return r.git.Stream(ctx, c, func(out io.Reader) error {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20) // with the path of an object
		for lines.Scan() {
			if err := f(lines.Text()); err != nil {
				return err
			}
		}
		return lines.Err()
	})
}

// MergeBase returns the best common ancestor of two revisions, one of them if there are several.
func (r *Repo) MergeBase(ctx context.Context, a, b string) (OID, error) {
	out, err := r.git.Run(ctx, git.Command{Args: []string{"merge-base", "--end-of-options", a, b}})
	if err != nil {
		return OID{}, fmt.Errorf("common ancestor of %s and %s: %w", a, b, err)
	}
	return ParseOID(strings.TrimSpace(string(out)))
}

// MergeBases returns every best common ancestor of a commit and a hypothetical merge of the others,
// none if their histories are unrelated.
func (r *Repo) MergeBases(ctx context.Context, one OID, others ...OID) ([]OID, error) {
	args := []string{"merge-base", "--all", one.String()}
	args = append(args, lists.Map(others, OID.String)...)
	out, err := r.git.Run(ctx, git.Command{Args: args})
	if git.ExitCode(err) == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("common ancestors of %s: %w", one, err)
	}
	ids, err := object.ParseIDs(string(out))
	if err != nil {
		return nil, fmt.Errorf("common ancestors of %s: %w", one, err)
	}
	return ids, nil
}
