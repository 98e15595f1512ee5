package gc

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/blobs"
)

// A NameError reports an abbreviated hash that matches no blob, or several.
type NameError struct {
	Name  string
	Found int // number of blobs with the prefix
}

// Error says how many there are.
func (e *NameError) Error() string {
	if e.Found == 0 {
		return "no blob of the store begins with " + e.Name
	}
	return fmt.Sprintf("%d blobs begin with %s", e.Found, e.Name)
}

// ErrNoName reports a word that cannot name a content.
var ErrNoName = errors.New(
	"neither a hash, nor the beginning of one, nor the path of a blob")

// Named returns the content that a person names: a hash, a prefix of one, or the path of a blob.
func Named(o Options, arg string) (blobs.Hash, error) {
	if h, err := blobs.ParseHash(arg); err == nil {
		return h, nil
	}
	name := filepath.ToSlash(arg)
	if i := strings.LastIndex("/"+name, "/"+blobs.Dir+"/"); i >= 0 {
		if h, ok := blobs.ParsePath(name[i+len(blobs.Dir):][1:]); ok {
			return h, nil
		}
	}
	const fewest = 4
	if len(arg) < fewest || strings.Trim(arg, "0123456789abcdef") != "" {
		return blobs.Hash{}, ErrNoName
	}
	var found []blobs.Hash
	for h, err := range o.blobs().All() {
		if err == nil && strings.HasPrefix(h.String(), arg) {
			found = append(found, h)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return blobs.Hash{}, &NameError{arg, len(found)}
}
