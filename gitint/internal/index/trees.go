package index

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// A Tree is a directory in the index's cache-tree extension, which has the tree object of a
// directory while it is valid. Git takes the trees of a commit from there. The zero value has none.
type Tree struct {
	all []cachedTree // each directory before its subdirectories
	at  int
}

type cachedTree struct {
	name  string // in the parent directory
	valid bool
	id    object.ID
	end   int // index in the list of the end of its subdirectories
}

// errTrees reports that the extension is not as git writes it.
var errTrees = errors.New("the trees that an index knows are not in order")

// Tree returns the root.
func (f *File) Tree() (Tree, error) {
	if len(f.trees) == 0 {
		return Tree{}, nil
	}
	p := treesParser{rest: f.trees, idSize: f.idSize}
	if err := p.directory(); err != nil {
		return Tree{}, err
	}
	if len(p.rest) > 0 {
		return Tree{}, errTrees
	}
	return Tree{all: p.trees}, nil
}

type treesParser struct {
	rest   []byte
	idSize int
	trees  []cachedTree
}

// directory parses "<name> NUL <entries> SP <directories> LF", the id unless the number of entries
// is negative, and the directories.
func (p *treesParser) directory() error {
	name, rest, _ := bytes.Cut(p.rest, []byte{0})
	counts, rest, ok := bytes.Cut(rest, []byte{'\n'})
	before, after, _ := strings.Cut(string(counts), " ")
	entries, err := strconv.Atoi(before)
	below, bad := strconv.Atoi(after)
	if !ok || err != nil || bad != nil {
		return errTrees
	}
	at := len(p.trees)
	t := cachedTree{name: string(name), valid: entries >= 0}
	if t.valid {
		if len(rest) < p.idSize {
			return errTrees
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

// Below returns a subdirectory.
func (t Tree) Below(name string) Tree {
	if len(t.all) == 0 {
		return Tree{}
	}
	for i := t.at + 1; i < t.all[t.at].end; i = t.all[i].end {
		if t.all[i].name == name {
			return Tree{t.all, i}
		}
	}
	return Tree{}
}

// Is reports whether a directory has the valid tree id.
func (t Tree) Is(id object.ID) bool {
	return len(t.all) > 0 && t.all[t.at].valid && t.all[t.at].id == id
}
