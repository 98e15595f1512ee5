package merge

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
)

// A Call is one call of a driver by git, with temporary files.
type Call struct {
	Kind               Kind
	Base, Ours, Theirs string // absolute paths; Ours is replaced by the result
	Path               string // of the merged file, below the root of the working tree
	// MarkerSize is the length of the markers that git would write. At each depth of a criss-cross
	// merge it is longer by two than the markers that a user sees, and for a file that both sides
	// renamed by one.
	MarkerSize int
	// Trial reports whether the merge will not be committed; then its conflicts are not recorded.
	Trial bool
	// Repo opens the repository. A call without one works too, since git can merge files outside of
	// a repository.
	Repo func() (*gitint.Repo, error)
	Now  func() time.Time
	// Limits bounds the size of the three files and of the result, which could not be read again if
	// it were larger.
	Limits regular.Limits
	// Writing, if not nil, is called before the result is written. After that, only a file or two
	// remain to be replaced.
	Writing func()
}

// plainMarker is the length of git's markers unless an attribute sets it. In a virtual base they
// are longer by at least virtualMarker.
const (
	plainMarker   = 7
	virtualMarker = 2
)

// Run merges. It replaces Ours in one step, or leaves it unchanged on an error. If a person has to
// decide, the result has conflicts, and they are recorded.
func (c Call) Run(ctx context.Context) (*Merged, error) {
	f := File{Kind: c.Kind, Path: c.Path, Virtual: c.virtual(ctx)}
	for _, v := range []struct {
		name string
		to   *[]byte
	}{{c.Base, &f.Base}, {c.Ours, &f.Ours}, {c.Theirs, &f.Theirs}} {
		var err error
		if *v.to, err = regular.ReadFile(v.name, c.Limits.Of(c.Path)); err != nil {
			return nil, fmt.Errorf("merge %s: %w", c.Path, err)
		}
	}
	f.Base = orNil(f.Base)
	if f.Base == nil && !f.Virtual {
		if base, err := c.ancestor(ctx); err == nil {
			f.Base = base
		}
	}
	if err := c.prepare(ctx, &f); err != nil {
		return nil, fmt.Errorf("merge %s: %w", c.Path, err)
	}
	m, err := f.Merge()
	if err != nil {
		return nil, err
	}
	if n, most := int64(len(m.Data)), c.Limits.Of(c.Path); n > most {
		return nil, fmt.Errorf("merge %s: what both sides have together is too large: %w",
			c.Path, &regular.SizeError{Size: n, Max: most})
	}
	if c.Writing != nil {
		c.Writing()
	}
	if len(m.Conflicts) > 0 && !c.Trial {
		if err := c.note(f, m); err != nil {
			return nil, err
		}
	}
	if err := replace(c.Ours, m.Data); err != nil {
		return nil, fmt.Errorf("merge %s: %w", c.Path, err)
	}
	return m, nil
}

// prepare refuses to merge two conversations, and reads the further files that a stream's merge
// needs. Outside of a repository there is nothing to read.
func (c Call) prepare(ctx context.Context, f *File) error {
	if f.Kind != Events && conversationOf(c.Path) == 0 {
		return nil
	}
	repo, err := c.Repo()
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	if stray, err := isStray(ctx, repo, c.Path, f.Theirs); err != nil || stray {
		return cmp.Or(err, ErrStray)
	}
	if f.Kind != Events {
		return nil
	}
	ours := headOf(ctx, repo)
	if f.needsBeside() { // before redact changes the versions
		if err := f.lookBeside(ctx, repo, ours); err != nil {
			return err
		}
	}
	return f.redact(ctx, repo, workspaceIn(c.Path), append(told(repo.Env()), ours))
}

// ancestor returns the conversation's file in the merge base if git has not found it: both sides
// archived the conversation or gave it the same new directory, and one of them changed the file too
// much for rename detection. It returns nil if git does not report which commits it merges, or if
// there is no single merge base.
func (c Call) ancestor(ctx context.Context) ([]byte, error) {
	id := conversationOf(c.Path)
	repo, err := c.Repo()
	if err != nil || id == 0 {
		return nil, err
	}
	heads := told(repo.Env())
	if len(heads) != 1 {
		return nil, nil
	}
	ours, err := repo.Resolve(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	sides, err := SidesBetween(ctx, repo, ours, heads[0])
	if err != nil || sides.Base.IsZero() {
		return nil, err
	}
	base, err := newFamily(repo, workspaceIn(c.Path)).at(ctx, sides.Base)
	if err != nil {
		return nil, err
	}
	return base.read(id, path.Base(c.Path))
}

// virtual reports whether git merges the bases of a criss-cross merge. Taking any other merge for
// one would lose the changes of both sides. Therefore it also reads the attribute by which a user
// can make all markers longer.
func (c Call) virtual(ctx context.Context) bool {
	if c.MarkerSize < plainMarker+virtualMarker {
		return false
	}
	const attribute = "conflict-marker-size"
	repo, err := c.Repo()
	if err != nil {
		return true
	}
	values, err := repo.CheckAttr(ctx, []string{attribute}, []string{c.Path})
	size, bad := strconv.Atoi(values[c.Path][attribute])
	if err != nil || bad != nil || size <= 0 {
		return true
	}
	return c.MarkerSize >= size+virtualMarker
}

// note writes a record before the driver reports a conflict to git. Outside of a repository no
// index waits for a decision, so there is no record.
func (c Call) note(f File, m *Merged) error {
	repo, err := c.Repo()
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	return RecordsOf(repo.GitDir()).Save(*newRecord(f, m, repo, c.Now()))
}

// replace replaces the content of a file in one step.
func replace(name string, data []byte) error {
	now, err := regular.ReadFile(name, regular.MaxOwn)
	if err != nil || bytes.Equal(now, data) {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".jp-merge-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// headPrefix begins the environment variables with which git names the merged commits:
// GITHEAD_<id>=<name>.
const headPrefix = "GITHEAD_"

// theirHeads returns the revisions that may name the commit that git is merging, as far as git
// records it.
func theirHeads(env []string) []string {
	var heads []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if id, ok := strings.CutPrefix(name, headPrefix); ok {
			heads = append(heads, id)
		}
	}
	return append(heads, "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD")
}

// picked returns the commit that a rebase is applying, "" if it is none: that of the last step that
// it noted as done. REBASE_HEAD names it only once git stops, and until then one that it stopped at
// before.
func picked(repo *gitint.Repo) string {
	done, err := regular.ReadFile(
		filepath.Join(repo.GitDir(), "rebase-merge", "done"), regular.MaxNote)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(done)), "\n")
	step := strings.Fields(lines[len(lines)-1])
	if len(step) == 0 || strings.HasPrefix(step[0], "m") {
		return "" // a merge, which names the commit that it makes again
	}
	for _, word := range step[1:] {
		if _, err := gitint.ParseOID(word); err == nil {
			return word
		}
	}
	return ""
}

// headOf returns the commit that is checked out, or zero before the first one. It starts no git,
// since a driver runs for each file of a merge.
func headOf(ctx context.Context, repo *gitint.Repo) gitint.OID {
	head, _ := repo.Head(ctx)
	return head.OID
}

// beside returns another file of a conversation in the three versions that git is merging. Git does
// not tell a driver which commits these are. If they cannot be found, our version, or else the file
// in the working tree, is used for all three: the base configuration of a conversation rarely
// changes.
func beside(
	ctx context.Context, repo *gitint.Repo, head gitint.OID, file, base string,
) (configs [3][]byte, err error) {
	name := path.Join(path.Dir(file), base)
	ours, err := conversationAt(ctx, repo, head.String(), name)
	if err != nil {
		return configs, err
	}
	if ours == nil && repo.Root() != "" {
		file := filepath.Join(repo.Root(), filepath.FromSlash(name))
		ours, _ = regular.ReadFile(file, repo.Limits().Of(name))
	}
	heads, forked := theirHeads(repo.Env()), ""
	if rev := picked(repo); rev != "" {
		heads, forked = []string{rev}, rev+"^"
	}
	for _, rev := range heads {
		theirs, err := conversationAt(ctx, repo, rev, name)
		if err != nil {
			return configs, err
		}
		if theirs == nil {
			continue
		}
		if bytes.Equal(ours, theirs) {
			break
		}
		base := theirs
		if forked == "" {
			if id, err := repo.MergeBase(ctx, head.String(), rev); err == nil {
				forked = id.String()
			}
		}
		if forked != "" {
			if base, err = conversationAt(ctx, repo, forked, name); err != nil {
				return configs, err
			}
		}
		return [3][]byte{base, ours, theirs}, nil
	}
	return [3][]byte{ours, ours, ours}, nil
}

// conversationAt reads a file of a conversation in a revision, in which the conversation may have
// another directory: archived, or renamed. It returns nil if the revision does not have it.
func conversationAt(
	ctx context.Context, repo *gitint.Repo, rev, name string,
) ([]byte, error) {
	data, err := at(ctx, repo, rev, name)
	_, below, id := homeOf(name)
	if err != nil || data != nil || id == 0 {
		return data, err
	}
	tree, err := gitint.OrNone(repo.Tree(ctx, rev))
	if err != nil || tree == nil {
		return nil, err
	}
	h, err := homesIn(tree, workspaceIn(name))
	if err != nil {
		return nil, err
	}
	return h.read(id, below)
}

// at reads a file of a revision. It returns nil if either does not exist.
func at(ctx context.Context, repo *gitint.Repo, rev, name string) ([]byte, error) {
	tree, err := gitint.OrNone(repo.Tree(ctx, rev))
	if err != nil || tree == nil {
		return nil, err
	}
	return readIn(tree, name)
}
