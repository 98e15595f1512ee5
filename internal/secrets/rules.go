package secrets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
)

// engine changes whenever the same rules find something else.
const engine = 1

// A Rule finds one kind of secret.
type Rule struct {
	Name string
	// Keywords are what a match has at its beginning, one of them. In any case if Fold.
	Keywords []string
	Fold     bool
	// Regex matches from the keyword on. If it has a group, that is the secret.
	Regex string
	// Public is how many bytes at the beginning of the secret may be shown.
	Public int

	shape shape
	added bool // by a workspace
	// within bounds what Regex is matched with; 0 means usualWindow.
	within int
}

// A shape is how a rule goes from a keyword to a secret.
type shape uint8

const (
	token    shape = iota // Regex matches a word, which looks random
	guessed               // Regex matches, and its group is no word, path or placeholder
	certain               // Regex matches
	assigned              // the value that is given to a name with the keyword in it
)

const usualWindow = 600

// Rules is a set of rules. It is immutable and may be used by several goroutines.
type Rules struct {
	list   []Rule
	filter func() *filter
}

func newRules(list []Rule) *Rules {
	return &Rules{list, sync.OnceValue(func() *filter { return newFilter(list) })}
}

// Builtin returns the rules of this version.
func Builtin() *Rules { return newRules(builtin) }

// With returns the rules and those that a workspace adds.
func (r *Rules) With(c Committed) *Rules {
	return newRules(slices.Concat(r.list, c.Rules))
}

// Without returns the rules without those of the given names. The caller has asked the user.
func (r *Rules) Without(names ...string) *Rules {
	if len(names) == 0 {
		return r
	}
	return newRules(slices.DeleteFunc(slices.Clone(r.list), func(rule Rule) bool {
		return slices.Contains(names, rule.Name)
	}))
}

// Names returns the names of the rules in order, each once.
func (r *Rules) Names() (names []string) {
	for _, rule := range r.list {
		if !slices.Contains(names, rule.Name) {
			names = append(names, rule.Name)
		}
	}
	return names
}

// Digest names the set: it differs where another set, or another version of the program, may
// find something else.
func (r *Rules) Digest() string {
	h := sha256.New()
	for _, rule := range r.list {
		fmt.Fprintf(h, "%q %q %t %q %d %d\n",
			rule.Name, rule.Keywords, rule.Fold, rule.Regex, rule.shape, rule.within)
	}
	return fmt.Sprintf("%d.%s", engine, hex.EncodeToString(h.Sum(nil)[:6]))
}
