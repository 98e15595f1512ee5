package file

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/git-jp/git-jp/internal/exact"
)

// A Capability is a right that a rule of access.fs can grant.
type Capability string

// The capabilities, as rules spell them.
const (
	CanRead   Capability = "read"
	CanCreate Capability = "create"
	CanUpdate Capability = "update"
	CanDelete Capability = "delete"
)

// ErrNotGranted says that the tool's access.fs does not grant the operation.
var ErrNotGranted = errors.New("access.fs does not grant it")

// A Rule is one rule of a tool's access.fs.
type Rule struct {
	Path     string `json:"path"` // relative to the root; "." for the root
	External bool   `json:"external"`
	Read     bool   `json:"read"`
	Write    bool   `json:"write"` // default of Create, Update and Delete
	Create   *bool  `json:"create"`
	Update   *bool  `json:"update"`
	Delete   *bool  `json:"delete"`
}

// ParseAccess reads the access of a tool: the rules in "fs". Without rules, everything is granted.
func ParseAccess(access []byte) ([]Rule, error) {
	if len(access) == 0 {
		return nil, nil
	}
	var table struct {
		FS []Rule `json:"fs"`
	}
	if err := exact.Unmarshal(access, &table); err != nil {
		return nil, fmt.Errorf("access: %w", err)
	}
	return table.FS, nil
}

func (r Rule) grants(c Capability) bool {
	own := map[Capability]*bool{CanCreate: r.Create, CanUpdate: r.Update, CanDelete: r.Delete}[c]
	switch {
	case c == CanRead:
		return r.Read
	case own != nil:
		return *own
	}
	return r.Write
}

// Restricted returns the tree with the access of these rules. The rule whose path has the most
// parts applies, of two equal ones the later; if none matches, nothing is granted. A rule for a
// path outside the workspace grants nothing here, since the tree has only files inside. The result
// is closed with t.
func (t *Tree) Restricted(rules []Rule) (*Tree, error) {
	if len(rules) == 0 {
		return t, nil
	}
	out := *t
	out.rules = []rule{}
	for _, r := range rules {
		if r.External {
			continue
		}
		rel, err := t.Rel(r.Path)
		if err != nil {
			return nil, fmt.Errorf("access.fs: %w", err)
		}
		out.rules = append(out.rules, rule{Rule: r, rel: rel})
	}
	return &out, nil
}

// A rule is a Rule with a resolved path.
type rule struct {
	Rule

	rel string // "." for the root
}

// parts returns how many parts of a path the rule matches, -1 if it does not match.
func (r rule) parts(rel string) int {
	whole := r.rel
	if foldsCase {
		whole, rel = strings.ToLower(whole), strings.ToLower(rel)
	}
	switch {
	case whole == ".":
		return 0
	case rel == whole, strings.HasPrefix(rel, whole+"/"):
		return strings.Count(whole, "/") + 1
	}
	return -1
}

// foldsCase is true on systems whose file systems usually ignore case: then a rule for .env applies
// to .ENV.
const foldsCase = isWindows || runtime.GOOS == "darwin"

// may reports whether the rules grant a capability for a slash path from the root.
func (t *Tree) may(rel string, c Capability) bool {
	if t.rules == nil {
		return true
	}
	best, granted := -1, false
	for _, r := range t.rules {
		if n := r.parts(rel); n >= 0 && n >= best {
			best, granted = n, r.grants(c)
		}
	}
	return granted
}

// granted is may with an error.
func (t *Tree) granted(path, rel string, c Capability) error {
	if t.may(rel, c) {
		return nil
	}
	return &AccessError{Path: path, Err: fmt.Errorf("%w to %s", ErrNotGranted, c)}
}
