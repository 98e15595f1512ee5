package dedup

import (
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// A Claim describes a thing that a result holds, as a [Rule] understands it, and which part of it.
type Claim struct {
	// Key names the thing. Claims about different things are unrelated.
	Key string
	// First and Last are lines, counted from 1; Last is 0 for the end.
	First, Last int
	// Rows is the number of lines that are actually there: a tool may show fewer than were
	// requested, or than it names. 0 means that all are.
	Rows int
	// Depth is how deep a directory was listed; negative for completely, 0 for the tool's default.
	Depth int
	// Only holds filters that select matching files, by the name of the argument; an absent one
	// selects everything. Except holds filters that exclude.
	Only, Except map[string][]string
	// Lines holds the lines of a listing, as it was returned.
	Lines map[string]bool
	// Gives reports whether the result holds the content itself, so that it can replace another
	// result.
	Gives bool
}

// Covers reports whether c, of a later result, makes an earlier one obsolete: it holds everything
// that the earlier one does. On claims that give something it is a partial order. A text of one
// file from some line to its end that is shorter than before may be a failure in words, and does
// not cover a longer one.
func (c Claim) Covers(earlier Claim) bool {
	return c.Gives && c.Key == earlier.Key && c.reaches(earlier) &&
		c.descends(earlier) &&
		letsThrough(c.Only, earlier.Only) && holdsBack(c.Except, earlier.Except) &&
		hasAll(c.Lines, earlier.Lines)
}

// reaches reports whether c has at least the lines of an earlier claim. A claim that extends to the
// end, without naming the last line, extends as far as it has lines.
func (c Claim) reaches(earlier Claim) bool {
	switch {
	case c.First > earlier.First:
		return false
	case c.Last > 0:
		return earlier.Last > 0 && c.Last >= earlier.Last &&
			(c.Rows == 0 || c.First-1+c.Rows >= earlier.Last || c.again(earlier))
	case c.Rows == 0:
		return true
	case earlier.Last > 0:
		return c.First-1+c.Rows >= earlier.Last
	default:
		return earlier.Rows > 0 && c.First+c.Rows >= earlier.First+earlier.Rows
	}
}

// again reports whether c answers the same request as an earlier claim with at least as many lines.
func (c Claim) again(earlier Claim) bool {
	return c.First == earlier.First && earlier.Rows > 0 && c.Rows >= earlier.Rows
}

// descends reports whether c is at least as deep as an earlier claim.
func (c Claim) descends(earlier Claim) bool {
	return c.Depth < 0 || c.Depth == earlier.Depth || earlier.Depth > 0 && c.Depth > earlier.Depth
}

// hasAll reports whether a listing has all lines of another one.
func hasAll(wide, narrow map[string]bool) bool {
	for line := range narrow {
		if !wide[line] {
			return false
		}
	}
	return true
}

// letsThrough reports whether the filters wide select everything that narrow selects.
func letsThrough(wide, narrow map[string][]string) bool {
	for name, all := range wide {
		some, ok := narrow[name]
		if !ok || !within(some, all) {
			return false
		}
	}
	return true
}

// holdsBack reports whether the filters wide exclude no more than narrow does.
func holdsBack(wide, narrow map[string][]string) bool {
	for name, some := range wide {
		if !within(some, narrow[name]) {
			return false
		}
	}
	return true
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// An Invocation is a call with its result.
type Invocation struct {
	Tool      string
	Arguments jsontext.Value
	Result    *events.ToolCallResponse // nil if there is none yet
	Contents  blobs.Reader             // to read the result; nil if it has no references
}

// A Rule interprets some calls.
type Rule struct {
	Name string
	// Read returns the claims of a result, or false if the rule does not understand it. A later
	// result that covers every claim replaces it.
	Read func(Invocation) ([]Claim, bool)
	// Changes returns the keys of the resources that a call has changed, so that earlier results
	// about them are out of date. It may be nil.
	Changes func(Invocation) []string
}

// Rules returns the built-in rules by name: "io-content"; "directory-survey"; "exact", by which a
// call replaces any earlier one with the same arguments; and "same", which also requires the same
// result.
func Rules() map[string]Rule {
	return map[string]Rule{
		"io-content":       {Name: "io-content", Read: readContent, Changes: changedFiles},
		"directory-survey": {Name: "directory-survey", Read: readSurvey},
		"exact":            {Name: "exact", Read: readExact},
		"same":             {Name: "same", Read: readSame},
	}
}

// readExact understands every call: the key is its tool with all arguments, combined with the
// resources that the result names, if any.
func readExact(c Invocation) ([]Claim, bool) {
	key, ok := canonical(c.Arguments)
	if !ok || !c.Shown() {
		return nil, false
	}
	key = c.Tool + "\x00" + key
	if !c.answered() || !c.named() {
		return []Claim{{Key: key, First: 1, Gives: c.answered()}}, true
	}
	all := c.held()
	for i := range all {
		all[i].Key = key + "\x00" + all[i].Key
	}
	return all, true
}

// readSame understands every call with a result: the key is its tool, its arguments and the exact
// result.
func readSame(c Invocation) ([]Claim, bool) {
	key, ok := canonical(c.Arguments)
	if !ok || c.Result == nil || !c.Shown() {
		return nil, false
	}
	key = c.Tool + "\x00" + key
	if c.Result.IsError {
		key += "\x00failed"
	}
	for i := range c.Result.Blocks {
		key += "\x00" + identity(&c.Result.Blocks[i])
	}
	return []Claim{{Key: key, First: 1, Gives: true}}, true
}

// identity returns a string that identifies the form of a block that a model is given.
func identity(b *events.Block) string {
	switch r := b.Resource; {
	case r == nil && b.Content.IsZero():
		return string(b.Type) + "\x00" + string(b.Raw)
	case r == nil:
		return string(b.Type) + "\x00" + b.MIMEType + "\x00" + b.Content.Ref().Hash.String()
	default:
		return string(b.Type) + "\x00" + r.URI + "\x00" + r.Delivered().Ref().Hash.String()
	}
}

// answered reports whether a call has a result that is not an error.
func (c Invocation) answered() bool { return c.Result != nil && !c.Result.IsError }

// named reports whether a result names its content.
func (c Invocation) named() bool {
	return slices.ContainsFunc(c.Result.Blocks, func(b events.Block) bool {
		return b.Resource != nil
	})
}

// canonical returns arguments in a form that is the same for equal arguments.
func canonical(args jsontext.Value) (string, bool) {
	if len(args) == 0 {
		return "{}", true
	}
	v := slices.Clone(args)
	err := v.Canonicalize()
	return string(v), err == nil
}
