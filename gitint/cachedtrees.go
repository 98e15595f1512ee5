package gitint

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// A cachedTree is an entry of the index's cache-tree extension: the tree object of a directory,
// while it is valid. Git takes the trees of a commit from there.
type cachedTree struct {
	name  string // in the parent directory
	valid bool
	id    OID
	end   int // index in the list of the end of its subdirectories
}

// errCachedTrees reports that the extension is not as git writes it.
var errCachedTrees = errors.New("the trees that an index knows are not in order")

// cachedTrees lists those of an index, each directory before its subdirectories, the root first.
type cachedTrees []cachedTree

// parseCachedTrees parses the extension TREE: for each directory "<name> NUL <entries> SP
// <directories> LF", and the id unless the number of entries is negative.
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
		t.id, rest = object.IDOf(rest[:p.idSize]), rest[p.idSize:]
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

// noTree is the index of a directory without a cached tree.
const noTree = -1

// root returns the index of the root.
func (c cachedTrees) root() int {
	if len(c) == 0 {
		return noTree
	}
	return 0
}

// below returns the index of a subdirectory.
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

// is reports whether a directory has the valid tree id.
func (c cachedTrees) is(at int, id OID) bool {
	return at != noTree && c[at].valid && c[at].id == id
}
