package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// ErrEdited reports an unmerged file that a person has changed and has to add.
var ErrEdited = errors.New("the file was edited after git stopped")

// A Resolver carries out decisions: it writes the file, stages it, and closes the record, in this
// order, so that an interrupted decision can be repeated.
type Resolver struct {
	Repo      *gitint.Repo
	Workspace *workspace.Workspace
	Dir       string // of .jp below the root of the working tree
	Now       func() time.Time
}

// Merge merges an unmerged file for which git called no driver, as in a clone without drivers. It
// returns the case with its record if a person has to decide after all, and nil when it is done.
func (r Resolver) Merge(ctx context.Context, c Case) (*Case, *Merged, error) {
	f := File{Kind: c.Kind, Path: c.Path}
	for stage, to := range map[int]*[]byte{
		stageBase: &f.Base, stageOurs: &f.Ours, stageTheirs: &f.Theirs,
	} {
		var err error
		if *to, err = r.object(ctx, c.Stages[stage]); err != nil {
			return nil, nil, fmt.Errorf("merge %s: %w", c.Path, err)
		}
	}
	if f.Base == nil {
		var err error
		if f.Base, err = r.ancestor(ctx, c); err != nil {
			return nil, nil, fmt.Errorf("merge %s: %w", c.Path, err)
		}
	}
	was, edited, err := r.edited(c, f)
	if err != nil {
		return nil, nil, fmt.Errorf("merge %s: %w", c.Path, err)
	}
	if edited && continues(was, f.Ours, f.Theirs) {
		f.Ours, edited = was, false
	}
	stray, err := isStray(ctx, r.Repo, c.Path, f.Theirs)
	if stray && edited {
		err = ErrEdited
	}
	if err != nil {
		return nil, nil, fmt.Errorf("merge %s: %w", c.Path, err)
	}
	if stray {
		m := &Merged{Data: f.Ours, Warnings: []string{ErrStray.Error() + ": ours was kept"}}
		return nil, m, r.settle(ctx, c, was, f.Ours)
	}
	heads, err := r.Repo.MergeHeads()
	ours := headOf(ctx, r.Repo)
	if err == nil && f.needsBeside() {
		err = f.lookBeside(ctx, r.Repo, ours)
	}
	if err == nil {
		err = f.redact(ctx, r.Repo, r.Dir, append(heads, ours))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("merge %s: %w", c.Path, err)
	}
	m, err := f.Merge()
	if edited && (err != nil || len(m.Conflicts) > 0 || !bytes.Equal(was, m.Data)) {
		return nil, nil, fmt.Errorf("merge %s: %w", c.Path, ErrEdited)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(m.Conflicts) == 0 {
		return nil, m, r.settle(ctx, c, was, m.Data)
	}
	c.Record = newRecord(f, m, r.Repo, r.Now())
	if err := RecordsOf(r.Repo.GitDir()).Save(*c.Record); err != nil {
		return nil, nil, err
	}
	return &c, m, r.write(ctx, c, was, m.Data)
}

// ancestor returns the conversation's file in the merge base if git has not found it, see
// [Call.Run]. The base is only certain if the sides have the unmerged versions of the index.
func (r Resolver) ancestor(ctx context.Context, c Case) ([]byte, error) {
	if c.ID == 0 {
		return nil, nil
	}
	f := newFamily(r.Repo, r.Dir)
	_, name, _ := homeOf(c.Path)
	sides, err := SidesOf(ctx, r.Repo)
	if err == nil && sides == nil {
		var index *gitint.Index
		if index, err = r.Repo.Index(ctx); err == nil {
			sides, err = f.unnoted(ctx, index, Place{Dir: r.Dir, ID: c.ID})
		}
	}
	if err != nil || sides == nil || sides.Base.IsZero() {
		return nil, err
	}
	for stage, commit := range map[int]gitint.OID{
		stageOurs: sides.Ours, stageTheirs: sides.Theirs,
	} {
		side, err := f.at(ctx, commit)
		if err != nil {
			return nil, err
		}
		if _, id, err := side.file(c.ID, name); err != nil || id != c.Stages[stage] {
			return nil, err
		}
	}
	base, err := f.at(ctx, sides.Base)
	if err != nil {
		return nil, err
	}
	return base.read(c.ID, name)
}

func (r Resolver) object(ctx context.Context, id gitint.OID) ([]byte, error) {
	if id.IsZero() {
		return nil, nil
	}
	return r.Repo.ReadObject(ctx, id, 0)
}

// edited returns the file of the working tree, nil if there is none, and reports whether it is
// neither a side's version nor git's textual merge. It may be the drivers' result: git leaves a
// merged file unmerged if the sides renamed it differently.
func (r Resolver) edited(c Case, f File) (now []byte, edited bool, err error) {
	now, err = regular.ReadFile(r.file(c.Path), r.Repo.Limits().Of(c.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil, c.Kind != Events, bytes.Equal(now, f.Ours), bytes.Equal(now, f.Theirs):
		return now, false, err
	}
	_, err = events.Decode(now)
	return now, err == nil, nil
}

// continues reports whether a stream only adds to our side, and nothing of theirs: it was continued
// before the merge was resolved, and is our side then. With anything of theirs it is a resolution
// that a person has begun.
func continues(now, ours, theirs []byte) bool {
	var all [3]*events.Stream
	for i, data := range [3][]byte{now, ours, theirs} {
		var err error
		if all[i], err = events.Decode(data); err != nil {
			return false
		}
	}
	after, before := sumsOf(all[0]), sumsOf(all[1])
	if !slices.Equal(after[:min(len(after), len(before))], before) {
		return false
	}
	added := lists.Set(after[len(before):])
	return !slices.ContainsFunc(sumsOf(all[2]), func(h blobs.Hash) bool { return added[h] })
}

func sumsOf(s *events.Stream) (sums []blobs.Hash) {
	for _, e := range s.All() {
		sums = append(sums, e.Sum())
	}
	return sums
}

// Place stages the version of a case that [Case.Placed] returns: as it is in the working tree, if
// it is there. If a side added the conversation, and git took it for another one that was renamed,
// Place stages the file of that side.
func (r Resolver) Place(ctx context.Context, c Case) error {
	version, _ := c.Placed()
	if version.IsZero() {
		return r.remove(ctx, c)
	}
	added, err := r.added(ctx, c)
	if err != nil {
		return err
	}
	if added == nil {
		return r.stageVersion(ctx, c, version)
	}
	was, err := regular.ReadFile(r.file(c.Path), r.Repo.Limits().Of(c.Path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("resolve %s: %w", c.Path, err)
	}
	return r.settle(ctx, c, was, added)
}

// added returns the file of the only side of the operation in progress that has a conversation,
// which their base lacks; nil if that is not certain.
func (r Resolver) added(ctx context.Context, c Case) ([]byte, error) {
	sides, err := SidesOf(ctx, r.Repo)
	if err != nil || sides == nil || sides.Base.IsZero() || sides.Theirs.IsZero() || c.ID == 0 {
		return nil, err
	}
	f := newFamily(r.Repo, r.Dir)
	base, err := f.at(ctx, sides.Base)
	if err != nil || len(base.dirs[c.ID]) > 0 {
		return nil, err
	}
	side, err := f.onlySide(ctx, sides, c.ID)
	home, _, _ := homeOf(c.Path)
	if err != nil || side == nil || !slices.Equal(side.dirs[c.ID], []string{home}) {
		return nil, err
	}
	return readIn(side.snap, c.Path)
}

// stageVersion stages a file as it is in the working tree, where it may have been edited. If it is
// not there, it writes a version first.
func (r Resolver) stageVersion(ctx context.Context, c Case, version gitint.OID) error {
	if _, err := os.Lstat(r.file(c.Path)); err == nil {
		return r.staged(ctx, c)
	}
	data, err := r.object(ctx, version)
	if err != nil {
		return fmt.Errorf("resolve %s: %w", c.Path, err)
	}
	return r.settle(ctx, c, nil, data)
}

// Stream returns the stream of a case in the working tree.
func (r Resolver) Stream(c Case) (*events.Stream, error) {
	s, _, err := r.stream(c)
	return s, err
}

// stream also returns the file.
func (r Resolver) stream(c Case) (*events.Stream, []byte, error) {
	data, err := regular.ReadFile(r.file(c.Path), r.Repo.Limits().Of(c.Path))
	if err != nil {
		return nil, nil, fmt.Errorf("resolve %s: %w", c.Path, err)
	}
	s, err := events.Decode(bytes.TrimSuffix(data, leftMark))
	if err != nil {
		return nil, nil, fmt.Errorf("resolve %s: %w", c.Path, err)
	}
	return s, data, nil
}

// Decide applies a decision for each conflict of the case's record.
func (r Resolver) Decide(ctx context.Context, c Case, decisions []Decision) error {
	s, was, err := r.stream(c)
	if err != nil {
		return err
	}
	for i, conflict := range c.Record.Conflicts {
		if s, err = decisions[i].Apply(s, conflict); err != nil {
			return fmt.Errorf("%s: %w", c.Path, err)
		}
	}
	if err := s.Validate(); err != nil {
		return fmt.Errorf("resolve %s: %w", c.Path, err)
	}
	if err := r.settle(ctx, c, was, s.Encode()); err != nil {
		return err
	}
	return r.noteDecided(ctx, c.ID)
}

// Keep decides that a file which one side deleted is kept or removed. [Kept.Restore] restores the
// other files of a kept conversation.
func (r Resolver) Keep(ctx context.Context, c Case, keep bool) error {
	if err := r.keep(ctx, c, keep); err != nil {
		return err
	}
	return r.noteDecided(ctx, c.ID)
}

func (r Resolver) keep(ctx context.Context, c Case, keep bool) error {
	if !keep {
		return r.remove(ctx, c)
	}
	id := c.Stages[stageOurs]
	if id.IsZero() {
		id = c.Stages[stageTheirs]
	}
	if err := r.stageVersion(ctx, c, id); err != nil || c.ID == 0 {
		return err
	}
	return r.unbury(ctx, c.ID)
}

// unbury removes the record that a conversation was removed, with which no import would bring what
// its session says from now on.
func (r Resolver) unbury(ctx context.Context, id events.ID) error {
	name := workspace.RemovedPath(id)
	c := Case{Path: path.Join(r.Dir, name)}
	_, err := os.Lstat(r.file(c.Path))
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(r.Workspace.FileLeftOut(name), fs.ErrExist) {
		return nil
	}
	return r.remove(ctx, c)
}

// remove removes a file from the working tree and the index.
func (r Resolver) remove(ctx context.Context, c Case) error {
	if err := os.Remove(r.file(c.Path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("resolve %s: %w", c.Path, err)
	}
	home, _, _ := homeOf(c.Path)
	at := path.Dir(c.Path)
	for os.Remove(r.file(at)) == nil && below(at, home) { // those that are empty now
		at = path.Dir(at)
	}
	return r.stage(ctx, gitint.Change{Remove: []string{c.Path}})
}

// Complete writes the files that the directories of a conversation lack, from the side that has
// them. If git detects that a side renamed the stream but not that it renamed metadata.json, which
// the other changed, it leaves metadata.json alone in the old directory. A file in which it, or a
// program with a git of its own, left the lines of both sides between markers is written again.
func (r Resolver) Complete(ctx context.Context, c Case) error {
	for _, dir := range c.Dirs {
		for _, name := range workspace.Files() {
			if err := r.complete(ctx, c, path.Join(dir, name)); err != nil {
				return fmt.Errorf("resolve %s: %w", path.Join(dir, name), err)
			}
		}
	}
	return nil
}

// complete writes one of these files.
func (r Resolver) complete(ctx context.Context, c Case, file string) error {
	was, err := regular.ReadFile(r.file(file), r.Repo.Limits().Of(file))
	lacks := errors.Is(err, fs.ErrNotExist)
	if !lacks && !hasMarkers(was) {
		return nil // also of a file that cannot be read: whoever reads it says why
	}
	data, err := r.ofSides(ctx, file)
	if err != nil {
		return err
	}
	if data == nil && lacks {
		data = r.beside(c.Dirs, path.Base(file))
	}
	if data == nil {
		return nil
	}
	return r.write(ctx, Case{Path: file, ID: c.ID}, was, data)
}

// beside returns a file from the first directory of a conversation that has it. It is used if no
// commit has the file: after --squash nothing names their commit.
func (r Resolver) beside(dirs []string, name string) []byte {
	for _, dir := range dirs {
		data, err := regular.ReadFile(r.file(path.Join(dir, name)), r.Repo.Limits().Of(name))
		if err == nil {
			return data
		}
	}
	return nil
}

// ofSides returns a file of the side that has it, or nil. After --squash and stash pop nothing but
// the message and the latest stash names theirs.
func (r Resolver) ofSides(ctx context.Context, file string) ([]byte, error) {
	heads := []string{"HEAD"}
	sides, err := SidesOf(ctx, r.Repo)
	if err == nil && sides == nil {
		heads = append(heads, stashRef)
		sides, err = sidesOfSquash(ctx, r.Repo)
	}
	if err != nil {
		return nil, err
	}
	if sides != nil && !sides.Theirs.IsZero() {
		heads = slices.Insert(heads, 1, sides.Theirs.String())
	}
	for _, head := range heads {
		if data, err := at(ctx, r.Repo, head, file); err != nil || data != nil {
			return data, err
		}
	}
	return nil, nil
}

// settle writes a file, stages it and closes its record.
func (r Resolver) settle(ctx context.Context, c Case, was, data []byte) error {
	if err := r.write(ctx, c, was, data); err != nil {
		return err
	}
	return r.staged(ctx, c)
}

// staged stages a file, a stream without what was redacted and with the content that it refers to,
// and closes its record.
func (r Resolver) staged(ctx context.Context, c Case) error {
	if err := r.redact(ctx, c); err != nil {
		return err
	}
	content, err := r.untracked(ctx, c.Path)
	if err != nil {
		return err
	}
	if err := r.stage(ctx, gitint.Change{Add: append(content, c.Path)}); err != nil {
		return err
	}
	return RecordsOf(r.Repo.GitDir()).Remove(c.Path)
}

// Files returns the paths of a conversation's files that are in a directory of the working tree,
// and of the files with the names in beside.
func (r Resolver) Files(dir string, beside []string) []string {
	var names []string
	for _, name := range append(workspace.Files(), beside...) {
		if slices.Contains(names, path.Join(dir, name)) {
			continue
		}
		if _, err := os.Lstat(r.file(path.Join(dir, name))); err == nil {
			names = append(names, path.Join(dir, name))
		}
	}
	return names
}

// Marked returns the unmerged files of a conversation in which git left conflict markers. Both
// versions are in there, and the user has to edit them.
func (r Resolver) Marked(ctx context.Context, c Case) ([]string, error) {
	index, err := r.Repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, name := range index.Conflicts() {
		if kindOf(name) != "" || !slices.Contains(c.Entries, name) {
			continue
		}
		data, err := regular.ReadFile(r.file(name), r.Repo.Limits().Of(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look for conflict markers: %w", err)
		}
		if hasMarkers(data) {
			all = append(all, name)
		}
	}
	return all, nil
}

// hasMarkers reports whether a text has lines that begin and end a conflict.
func hasMarkers(text []byte) bool { return hasMarker(text, "<") && hasMarker(text, ">") }

// hasMarker reports whether a line begins with a marker, of seven characters, or of more if both
// sides renamed the file.
func hasMarker(text []byte, sign string) bool {
	for line := range bytes.Lines(text) {
		rest := bytes.TrimLeft(line, sign)
		if len(line)-len(rest) >= 7 && bytes.HasPrefix(rest, []byte(" ")) {
			return true
		}
	}
	return false
}

// Close closes the record of a case that was decided by other means.
func (r Resolver) Close(c Case) error {
	if c.Record == nil {
		return nil
	}
	return RecordsOf(r.Repo.GitDir()).Remove(c.Record.Path)
}

func (r Resolver) stage(ctx context.Context, change gitint.Change) error {
	change.ResolveConflicts = true
	_, err := r.Repo.Stage(ctx, change)
	return err
}

// write replaces a file of the working tree if it still equals was, where nil is no file. It holds
// the lock of the conversation.
func (r Resolver) write(ctx context.Context, c Case, was, data []byte) (err error) {
	if c.ID != 0 {
		var unlock func() error
		if unlock, err = r.Workspace.Lock(ctx, c.ID); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	root, err := regular.OpenRoot(r.Workspace.Dir())
	if err != nil {
		return fmt.Errorf("resolve %s: %w", c.Path, err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it afterwards
	name, err := filepath.Rel(filepath.FromSlash(r.Dir), filepath.FromSlash(c.Path))
	if err == nil {
		err = root.MkdirAll(filepath.Dir(name), atomicfile.DirPerm)
	}
	if err == nil {
		err = atomicfile.Replace(root, filepath.ToSlash(name), was, data,
			atomicfile.Options{TempDir: blobs.Dir + "/.tmp"})
	}
	if err != nil {
		return fmt.Errorf("resolve %s: %w", c.Path, err)
	}
	return nil
}

func (r Resolver) file(name string) string {
	return filepath.Join(r.Repo.Root(), filepath.FromSlash(name))
}
