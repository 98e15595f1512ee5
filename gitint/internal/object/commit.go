package object

import "bytes"

// A CommitHead has the references in a commit.
type CommitHead struct {
	Tree    ID
	Parents []ID
}

// ParseCommit returns the references in a commit with this name. The error is a [*CorruptError].
func ParseCommit(o Object, id ID) (h CommitHead, err error) {
	if o.Kind != KindCommit {
		return h, &CorruptError{OID: id, Reason: "it is a " + o.Kind + ", not a commit"}
	}
	o.header(func(key, value []byte) bool {
		var to ID
		switch string(key) {
		case KindTree:
			h.Tree, err = ParseID(string(value))
		case "parent":
			to, err = ParseID(string(value))
			h.Parents = append(h.Parents, to)
		}
		return err == nil
	})
	switch {
	case err != nil:
		return h, &CorruptError{OID: id, Reason: err.Error()}
	case h.Tree.IsZero():
		return h, &CorruptError{OID: id, Reason: "it has no tree"}
	}
	return h, nil
}

// Target returns the object that a commit or a tag with this name has in one line of its header.
// The error is a [*CorruptError].
func (o Object) Target(id ID, line string) (to ID, err error) {
	found := false
	o.header(func(key, value []byte) bool {
		if found = string(key) == line; found {
			to, err = ParseID(string(value))
		}
		return !found
	})
	switch {
	case !found:
		return ID{}, &CorruptError{OID: id, Reason: "it has no " + line}
	case err != nil:
		return ID{}, &CorruptError{OID: id, Reason: err.Error()}
	}
	return to, nil
}

// header calls f with the lines of a commit or a tag before its message, until f returns false.
func (o Object) header(f func(key, value []byte) bool) {
	for line := range bytes.Lines(o.Data) {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		key, value, _ := bytes.Cut(line, []byte{' '})
		if len(line) == 0 || !f(key, value) {
			return
		}
	}
}
