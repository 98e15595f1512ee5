package dedup

import (
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// A Claim is what a call was about, as far as a [Rule] understands it: a thing, and how much
// of it.
type Claim struct {
	// Key names the thing. Calls about different things have nothing to do with each other.
	Key string
	// First and Last are lines, counted from 1; Last is 0 for the end.
	First, Last int
	// Depth is how deep a directory was walked; negative for all the way.
	Depth int
	// Only are filters that let through what they name, by the name of the argument; one
	// that is absent lets everything through. Except are filters that hold back.
	Only, Except map[string][]string
	// Gives says that the result holds the thing, so that it can stand for another result.
	Gives bool
}

// Covers reports whether the result of c, a later call, makes that of an earlier one
// obsolete: it holds all that the earlier one asked for. On calls that give something it is a
// partial order.
func (c Claim) Covers(earlier Claim) bool {
	return c.Gives && c.Key == earlier.Key &&
		c.First <= earlier.First && (c.Last == 0 || earlier.Last != 0 && c.Last >= earlier.Last) &&
		(c.Depth < 0 || earlier.Depth >= 0 && c.Depth >= earlier.Depth) &&
		letsThrough(c.Only, earlier.Only) && holdsBack(c.Except, earlier.Except)
}

// letsThrough reports whether filters let through what others do.
func letsThrough(wide, narrow map[string][]string) bool {
	for name, all := range wide {
		some, ok := narrow[name]
		if !ok || !within(some, all) {
			return false
		}
	}
	return true
}

// holdsBack reports whether filters hold back no more than others do.
func holdsBack(wide, narrow map[string][]string) bool {
	for name, some := range wide {
		if !within(some, narrow[name]) {
			return false
		}
	}
	return true
}

func within(some, all []string) bool {
	for _, s := range some {
		if !slices.Contains(all, s) {
			return false
		}
	}
	return true
}

// An Invocation is a call with its result.
type Invocation struct {
	Tool      string
	Arguments jsontext.Value
	Result    *events.ToolCallResponse // nil while there is none
}

// A Rule understands some calls.
type Rule struct {
	Name string
	// Read returns what a call was about; false when the rule does not understand it.
	Read func(Invocation) (Claim, bool)
}

// Rules returns the built-in rules by their names: "io-content", "directory-survey" and
// "exact".
func Rules() map[string]Rule {
	return map[string]Rule{
		"io-content":       {"io-content", readContent},
		"directory-survey": {"directory-survey", readSurvey},
		"exact":            {"exact", readExact},
	}
}

// readExact understands every call: it is about its tool and all its arguments.
func readExact(c Invocation) (Claim, bool) {
	key, ok := canonical(c.Arguments)
	return Claim{
		Key: c.Tool + "\x00" + key, First: 1, Gives: c.answered(),
	}, ok
}

// answered reports whether a call came to a result that is none of failure.
func (c Invocation) answered() bool { return c.Result != nil && !c.Result.IsError }

// canonical writes arguments in the one form that equal arguments have.
func canonical(args jsontext.Value) (string, bool) {
	if len(args) == 0 {
		return "{}", true
	}
	v := slices.Clone(args)
	err := v.Canonicalize()
	return string(v), err == nil
}
