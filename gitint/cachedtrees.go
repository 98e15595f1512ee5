package gitint

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// A cachedTree is what an index knows of one of its directories: the tree that all in it make, as
// long as that is valid. Git takes the trees of a commit from there.
type cachedTree struct {
	name  string // in the directory above
	valid bool
	id    OID
	end   int // where in the list that ends what is in the directory
}

// errCachedTrees says that the extension of an index is not as git writes it.
var errCachedTrees = errors.New("the trees that an index knows are not in order")

// cachedTrees are those of an index, each directory before those in it, the root first.
type cachedTrees []cachedTree

// parseCachedTrees reads the extension TREE: "<name> NUL <entries> SP <directories> LF", and the id
// where the entries are not fewer than none, for each directory.
func parseCachedTrees(data []byte, idSize int) (cachedTrees, error) {
	if len(data) == 0 {
		return nil, nil
	}
	p := cachedTreesParser{rest: data, idSize: idSize}
	if err := p.directory(); err != nil {
		return nil, err
	}
	if len(p.rest) > 0 {
		return nil, errCachedTrees
	}
	return p.trees, nil
}

type cachedTreesParser struct {
	rest   []byte
	idSize int
	trees  cachedTrees
}

func (p *cachedTreesParser) directory() error {
	name, rest, _ := bytes.Cut(p.rest, []byte{0})
	counts, rest, ok := bytes.Cut(rest, []byte{'\n'})
	before, after, _ := strings.Cut(string(counts), " ")
	entries, err := strconv.Atoi(before)
	below, bad := strconv.Atoi(after)
	if !ok || err != nil || bad != nil {
		return errCachedTrees
	}
	at := len(p.trees)
	t := cachedTree{name: string(name), valid: entries >= 0}
	if t.valid {
		if len(rest) < p.idSize {
			return errCachedTrees
		}
		t.id, rest = oidOf(rest[:p.idSize]), rest[p.idSize:]
	}
	p.trees, p.rest = append(p.trees, t), rest
	for range below {
		if err := p.directory(); err != nil {
			return err
		}
	}
	p.trees[at].end = len(p.trees)
	return nil
}

// noTree is the place of a directory that an index knows no tree of.
const noTree = -1

// root is the place of the root.
func (c cachedTrees) root() int {
	if len(c) == 0 {
		return noTree
	}
	return 0
}

// below is the place of a directory in another.
func (c cachedTrees) below(at int, name string) int {
	if at == noTree {
		return noTree
	}
	for i := at + 1; i < c[at].end; i = c[i].end {
		if c[i].name == name {
			return i
		}
	}
	return noTree
}

// is reports whether the entries of a directory make a tree.
func (c cachedTrees) is(at int, id OID) bool {
	return at != noTree && c[at].valid && c[at].id == id
}
