package secrets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
)

// engine changes whenever the same rules find something else.
const engine = 5

// A Rule finds one kind of secret.
type Rule struct {
	Name string
	// A match begins with one of Keywords, in any case if Fold is set.
	Keywords []string
	Fold     bool
	// Regex matches from the beginning of the keyword. If it has a group, the group is the secret.
	// If it is empty, the keyword is.
	Regex string
	// Public is the number of leading bytes of the secret that may be shown.
	Public int

	shape shape
	added bool // by a workspace
	// alone is set if the keyword is an ordinary word, which a hyphen may join to another word.
	alone bool
	// commands are those of which an option is a secret, or, if paired is set, of which one letter
	// and a user in front of a colon are directly before it.
	commands []string
	paired   bool
	// lead is the number of bytes of a match that are in front of its keyword.
	lead int
	// within is the length of the text that Regex is matched against; 0 means usualWindow.
	within int
}

// A shape is the way in which a rule finds a secret at a keyword.
type shape uint8

const (
	token    shape = iota // Regex matches a word that looks random
	guessed               // Regex matches; its group is not a word, path or placeholder
	certain               // Regex matches
	armored               // Regex matches a header, and lines of base64 follow
	assigned              // the value assigned to a name that contains the keyword
	option                // the value of an option, which the keyword is, of one of commands
	header                // the value of a cookie in a header whose name the keyword ends
	behind                // the password in front of the keyword
	piped                 // what a shell pipes into a command, of which the keyword is a part
)

const usualWindow = 600

// Rules is a set of rules. It is immutable and safe for concurrent use.
type Rules struct {
	list   []Rule
	filter func() *filter
	digest func() string
}

func newRules(list []Rule) *Rules {
	return &Rules{
		list:   list,
		filter: sync.OnceValue(func() *filter { return newFilter(list) }),
		digest: sync.OnceValue(func() string { return digestOf(list) }),
	}
}

// Builtin returns the built-in rules of this version.
func Builtin() *Rules { return newRules(slices.Concat(tokens, ofModels, vendors, forms)) }

// With returns the rules together with those that a workspace adds.
func (r *Rules) With(c Committed) *Rules {
	return newRules(slices.Concat(r.list, c.Rules))
}

// Without returns the rules except the built-in ones of the given names. The caller must have asked
// the user.
func (r *Rules) Without(names ...string) *Rules {
	if len(names) == 0 {
		return r
	}
	return newRules(slices.DeleteFunc(slices.Clone(r.list), func(rule Rule) bool {
		return !rule.added && slices.Contains(names, rule.Name)
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

// Digest identifies the set of rules: it differs if another set, or another version of the program,
// may find something else.
func (r *Rules) Digest() string { return r.digest() }

func digestOf(list []Rule) string {
	h := sha256.New()
	for _, rule := range list {
		fmt.Fprintf(h, "%q %q %t %q %d %d %q\n", rule.Name, rule.Keywords, rule.Fold, rule.Regex,
			rule.shape, rule.within, rule.commands)
	}
	return fmt.Sprintf("%d.%s", engine, hex.EncodeToString(h.Sum(nil)[:6]))
}
