package recheck

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
)

// errAbsent reports a missing object.
var errAbsent = errors.New("the object is missing")

// An info is what git reports about an object without reading it. It is zero for a missing object.
type info struct {
	id   oid
	kind string
	size int64
}

// parseInfo parses a line of cat-file. A line of another form reports a missing object or an
// ambiguous name.
func parseInfo(line string) (info, bool) {
	fields := strings.Split(line, " ")
	if len(fields) != 3 {
		return info{}, false
	}
	id, err := parseOID(fields[0])
	if err != nil || id == "" {
		return info{}, false
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	return info{id, fields[1], size}, err == nil
}

// An objectError names the object that could not be read.
type objectError struct {
	id  oid
	err error
}

func (e *objectError) Error() string { return fmt.Sprintf("read object %s: %v", e.id.hex(), e.err) }

func (e *objectError) Unwrap() error { return e.err }

// object reads one object of cat-file.
func (g *git) object(out *bufio.Reader, id oid, f func(kind string, r io.Reader) error) error {
	line, err := out.ReadString('\n')
	if err != nil {
		return err
	}
	one, ok := parseInfo(strings.TrimSuffix(line, "\n"))
	if !ok || one.id != id {
		return errAbsent
	}
	sum := g.objectHash(one.kind, one.size)
	content := io.TeeReader(io.LimitReader(out, one.size), sum)
	if err := f(one.kind, content); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return err
	}
	if last, err := out.ReadByte(); err != nil || last != '\n' {
		return errors.Join(io.ErrUnexpectedEOF, err)
	}
	if oid(sum.Sum(nil)) != id {
		return errors.New("its content belongs to another object")
	}
	return nil
}

// objectHash returns a hash with the header of an object already written to it.
func (g *git) objectHash(kind string, size int64) hash.Hash {
	sum := g.newHash()
	fmt.Fprintf(sum, "%s %d\x00", kind, size)
	return sum
}

// An entry is an entry of a tree.
type entry struct {
	name []byte
	node
}

// A node is a tree or a file.
type node struct {
	id   oid
	file bool
}

// entries reads trees and calls f with the entries of each, without submodules. The entries are
// valid during the call.
func (t *trees) entries(ctx context.Context, ids []oid, f func(i int, all []entry)) error {
	var data bytes.Buffer
	var all []entry
	return t.objects(ctx, ids, func(i int, kind string, r io.Reader) error {
		if kind != "tree" {
			return fmt.Errorf("it is a %s, not a tree", kind)
		}
		data.Reset()
		if _, err := data.ReadFrom(r); err != nil {
			return err
		}
		var err error
		if all, err = parseTree(all[:0], data.Bytes(), t.git.idSize()); err == nil {
			f(i, all)
		}
		return err
	})
}

var errTree = errors.New("it is damaged")

// parseTree appends the entries of a tree to all.
func parseTree(all []entry, data []byte, idSize int) ([]entry, error) {
	for len(data) > 0 {
		mode, rest, ok := bytes.Cut(data, []byte(" "))
		name, rest, more := bytes.Cut(rest, []byte{0})
		if !ok || !more || len(rest) < idSize {
			return all, errTree
		}
		one := node{oid(rest[:idSize]), true}
		data = rest[idSize:]
		switch mode = bytes.TrimLeft(mode, "0"); string(mode) {
		case "40000":
			one.file = false
		case "160000":
			continue
		}
		all = append(all, entry{name, one})
	}
	return all, nil
}

// A header has the references in the first lines of a commit or a tag.
type header struct {
	tree, object oid // tree of a commit, object of a tag
	parents      []oid
}

// readHeader reads the lines up to the first empty line.
func readHeader(r io.Reader) (h header, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() && lines.Text() != "" {
		name, digits, _ := strings.Cut(lines.Text(), " ")
		id, err := hex.DecodeString(digits)
		switch {
		case name == "tree" && err == nil:
			h.tree = oid(id)
		case name == "object" && err == nil:
			h.object = oid(id)
		case name == "parent" && err == nil:
			h.parents = append(h.parents, oid(id))
		}
	}
	if err = lines.Err(); err == nil && h.tree == "" && h.object == "" {
		err = errTree
	}
	return h, err
}
