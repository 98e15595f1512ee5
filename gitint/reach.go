package gitint

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// ObjectKinds returns the kind of each object, commit, tree, blob or tag, and "" for a missing one.
func (r *Repo) ObjectKinds(ctx context.Context, ids []OID) ([]string, error) {
	kinds := make([]string, len(ids))
	single := func(i int) error {
		obj, err := r.readObject(ctx, ids[i], 0)
		if _, ok := errors.AsType[*MissingObjectError](err); ok {
			return nil
		}
		kinds[i] = obj.kind
		return err
	}
	err := r.inBulk(ctx, "--batch-check", ids, single, func(a *bulkAnswer) error {
		kinds[a.index] = a.kind
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("kinds of %d objects: %w", len(ids), err)
	}
	return kinds, nil
}

// Ancestors returns commits and all their ancestors, each once; those of a branch are consecutive,
// children first. A missing commit is an error. It ignores the commit-graph and reads the commits.
func (r *Repo) Ancestors(ctx context.Context, commits []OID) ([]OID, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	var all []OID
	err := r.stream(ctx, command{
		args:  []string{"-c", "core.commitGraph=false", "rev-list", "--topo-order", "--stdin"},
		stdin: &idLines{ids: commits},
	}, func(out io.Reader) error {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			id, err := ParseOID(lines.Text())
			if err != nil {
				return err
			}
			all = append(all, id)
		}
		return lines.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	return all, nil
}

// A CommitHead has the references in a commit.
type CommitHead struct {
	Tree    OID
	Parents []OID
}

// CommitHeads calls f with the head of each commit, in no order but one at a time. An error
// of f ends the reading and is returned.
func (r *Repo) CommitHeads(
	ctx context.Context, commits []OID, f func(i int, h CommitHead) error,
) error {
	var t turns
	return r.readObjects(ctx, commits, func(i int, obj object, err error) error {
		if err != nil {
			return err
		}
		h, err := commitHead(obj)
		if err != nil {
			return &CorruptObjectError{OID: commits[i], Reason: err.Error()}
		}
		return t.take(func() error { return f(i, h) })
	})
}

func commitHead(obj object) (h CommitHead, err error) {
	if obj.kind != kindCommit {
		return h, fmt.Errorf("it is a %s, not a commit", obj.kind)
	}
	head, _, _ := bytes.Cut(obj.data, []byte("\n\n"))
	for line := range bytes.Lines(append(head, '\n')) {
		key, value, _ := bytes.Cut(bytes.TrimSuffix(line, []byte{'\n'}), []byte{' '})
		var id OID
		switch string(key) {
		case kindTree:
			h.Tree, err = ParseOID(string(value))
		case "parent":
			id, err = ParseOID(string(value))
			h.Parents = append(h.Parents, id)
		}
		if err != nil {
			return h, err
		}
	}
	if h.Tree.IsZero() {
		return h, errors.New("it has no tree")
	}
	return h, nil
}

// TagTarget returns the object that a tag object names.
func (r *Repo) TagTarget(ctx context.Context, tag OID) (OID, error) {
	obj, err := r.readObject(ctx, tag, 0)
	if err != nil {
		return OID{}, err
	}
	id, err := headerOID(obj.data, "object")
	if err != nil {
		return OID{}, &CorruptObjectError{OID: tag, Reason: err.Error()}
	}
	return id, nil
}

// A TreeData has the undecoded lines of one tree object: of many large trees that differ little,
// most lines need not be decoded.
type TreeData struct {
	data   []byte
	idSize int
}

// ReadTrees calls f with each tree, in no order but one at a time. An error of f ends the
// reading and is returned.
func (r *Repo) ReadTrees(
	ctx context.Context, trees []OID, f func(i int, t TreeData) error,
) error {
	var turn turns
	return r.AtOnce().ReadTrees(ctx, trees, func(i int, t TreeData) error {
		return turn.take(func() error { return f(i, t) })
	})
}

// ReadTrees is [Repo.ReadTrees] with concurrent calls of f.
func (a AtOnce) ReadTrees(
	ctx context.Context, trees []OID, f func(i int, t TreeData) error,
) error {
	return a.repo.readObjects(ctx, trees, func(i int, obj object, err error) error {
		if err != nil {
			return err
		}
		if obj.kind != kindTree {
			return &CorruptObjectError{
				OID: trees[i], Reason: "it is a " + obj.kind + ", not a tree",
			}
		}
		if n := int64(len(obj.data)); n > maxTree {
			return &ObjectSizeError{OID: trees[i], Size: n, Max: maxTree}
		}
		t := TreeData{obj.data, int(trees[i].size)}
		if _, err := t.count(); err != nil {
			return &CorruptObjectError{OID: trees[i], Reason: "it is not a tree", Err: err}
		}
		return f(i, t)
	})
}

// count returns the number of lines. It verifies that every line is complete, so that later reads
// need not.
func (t TreeData) count() (lines int, err error) {
	for rest := t.data; len(rest) > 0; lines++ {
		_, n, err := t.line(rest)
		if err != nil {
			return 0, err
		}
		rest = rest[n:]
	}
	return lines, nil
}

// line decodes the first line without its name, and returns its length.
func (t TreeData) line(rest []byte) (mode uint32, n int, err error) {
	end := bytes.IndexByte(rest, 0)
	if end < 0 || end+1+t.idSize > len(rest) {
		return 0, 0, errTreeEnds
	}
	for i, c := range rest[:end] {
		if c == ' ' && i > 0 && i+1 < end {
			return mode, end + 1 + t.idSize, nil
		}
		if c < '0' || c > '7' {
			break
		}
		mode = mode<<3 | uint32(c-'0')
	}
	return 0, 0, fmt.Errorf("it has the entry %.60q", rest[:end])
}

// Entries calls f with each entry; its path is the name.
func (t TreeData) Entries(f func(Entry)) {
	for rest := t.data; len(rest) > 0; {
		e, n := t.entry(rest)
		f(e)
		rest = rest[n:]
	}
}

// Find returns the entry of a name.
func (t TreeData) Find(name string) (found Entry, ok bool) {
	for rest := t.data; len(rest) > 0 && !ok; {
		_, n, err := t.line(rest)
		if err != nil {
			return Entry{}, false
		}
		if at := bytes.IndexByte(rest, ' '); string(rest[at+1:n-1-t.idSize]) == name {
			found, _ = t.entry(rest)
			ok = true
		}
		rest = rest[n:]
	}
	return found, ok
}

// Differences calls f with each entry that differs between the trees: gone is true for an entry of
// old, false for a new one. A changed entry is reported as both.
func (t TreeData) Differences(old TreeData, f func(e Entry, gone bool)) {
	was, is := old.data, t.data
	for len(was) > 0 || len(is) > 0 {
		if same := commonLine(was, is, t.idSize); same > 0 {
			was, is = was[same:], is[same:]
			continue
		}
		before, n := old.entry(was)
		after, m := t.entry(is)
		order := 1 // old has no more
		switch {
		case m == 0:
			order = -1
		case n > 0:
			order = compareNames(before.Path, before.Mode.end(), after.Path, after.Mode.end())
		}
		if order <= 0 {
			f(before, true)
			was = was[n:]
		}
		if order >= 0 {
			f(after, false)
			is = is[m:]
		}
	}
}

// commonLine returns the length of the first line if both begin with the same, else 0.
func commonLine(a, b []byte, idSize int) int {
	n := bytes.IndexByte(a, 0) + 1 + idSize
	if n <= idSize || n > len(a) || n > len(b) || !bytes.Equal(a[:n], b[:n]) {
		return 0
	}
	return n
}

func (t TreeData) entry(rest []byte) (Entry, int) {
	mode, n, err := t.line(rest)
	if err != nil {
		return Entry{}, 0 // the end: count has verified every line
	}
	name := bytes.IndexByte(rest, ' ') + 1
	return Entry{
		Path: string(rest[name : n-1-t.idSize]), Mode: canonicalMode(mode),
		OID: oidOf(rest[n-t.idSize : n]),
	}, n
}
