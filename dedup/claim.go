package dedup

import (
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// A Claim is one thing that a result holds, as far as a [Rule] understands it, and how much of
// it.
type Claim struct {
	// Key names the thing. Claims of different things have nothing to do with each other.
	Key string
	// First and Last are lines, counted from 1; Last is 0 for the end.
	First, Last int
	// Rows is how many lines there are: a tool may show fewer than it was asked for, or than it
	// names. 0 is for what has all that it names.
	Rows int
	// Depth is how deep a directory was walked; negative for all the way, 0 for as deep as
	// the tool goes unasked.
	Depth int
	// Only are filters that let through what they name, by the name of the argument; one
	// that is absent lets everything through. Except are filters that hold back.
	Only, Except map[string][]string
	// Lines are those of a listing, as it was returned.
	Lines map[string]bool
	// Gives says that the result holds the thing, so that it can stand for another result.
	Gives bool
}

// Covers reports whether c, of a later result, makes an earlier one obsolete: it holds all that
// the earlier one does. On claims that give something it is a partial order. A text of one file
// from one line to its end that is shorter than before may be a failure in words, and covers no
// longer one.
func (c Claim) Covers(earlier Claim) bool {
	return c.Gives && c.Key == earlier.Key && c.reaches(earlier) &&
		c.descends(earlier) &&
		letsThrough(c.Only, earlier.Only) && holdsBack(c.Except, earlier.Except) &&
		lists(c.Lines, earlier.Lines)
}

// reaches reports whether the lines of c are at least those of an earlier claim. What goes to
// the end, and does not say itself where that is, goes as far as it has lines.
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

// again reports whether c has as many lines of a question as an earlier answer to it.
func (c Claim) again(earlier Claim) bool {
	return c.First == earlier.First && earlier.Rows > 0 && c.Rows >= earlier.Rows
}

// descends reports whether c goes as deep as an earlier claim.
func (c Claim) descends(earlier Claim) bool {
	return c.Depth < 0 || c.Depth == earlier.Depth || earlier.Depth > 0 && c.Depth > earlier.Depth
}

// lists reports whether a listing has all lines of another one.
func lists(wide, narrow map[string]bool) bool {
	for line := range narrow {
		if !wide[line] {
			return false
		}
	}
	return true
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
	Contents  blobs.Reader             // of the result; nil where it has no references
	// Given reports whether the model is given the content of a resource; nil says that it is.
	Given func(*events.Resource) bool
}

// A Rule understands some calls.
type Rule struct {
	Name string
	// Read returns what a result holds; false when the rule does not understand it. Something
	// later stands for the result where it covers every claim.
	Read func(Invocation) ([]Claim, bool)
	// Changes returns the keys of what a call has made different, so that earlier results about
	// them are out of date; nil understands none.
	Changes func(Invocation) []string
}

// Rules returns the built-in rules by their names: "io-content", "directory-survey", "exact",
// by which a call stands for any earlier one with its arguments, and "same", by which its result
// has to be the same too.
func Rules() map[string]Rule {
	return map[string]Rule{
		"io-content":       {Name: "io-content", Read: readContent, Changes: changedFiles},
		"directory-survey": {Name: "directory-survey", Read: readSurvey},
		"exact":            {Name: "exact", Read: readExact},
		"same":             {Name: "same", Read: readSame},
	}
}

// readExact understands every call: it is about its tool and all its arguments, and where the
// result names what it holds, about that.
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

// readSame understands every call with a result: it is about its tool, its arguments and what
// came of it, bytes and all.
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

// identity tells a block from others by all that a model is given of it.
func identity(b *events.Block) string {
	switch r := b.Resource; {
	case r == nil && b.Content.IsZero():
		return string(b.Type) + "\x00" + string(b.Raw)
	case r == nil:
		return string(b.Type) + "\x00" + b.MIMEType + "\x00" + b.Content.Ref().Hash.String()
	default:
		return string(b.Type) + "\x00" + r.URI + "\x00" + delivery(r).Ref().Hash.String()
	}
}

// answered reports whether a call came to a result that is none of failure.
func (c Invocation) answered() bool { return c.Result != nil && !c.Result.IsError }

// named reports whether a result says of what it is.
func (c Invocation) named() bool {
	return slices.ContainsFunc(c.Result.Blocks, func(b events.Block) bool {
		return b.Resource != nil
	})
}

// canonical writes arguments in the one form that equal arguments have.
func canonical(args jsontext.Value) (string, bool) {
	if len(args) == 0 {
		return "{}", true
	}
	v := slices.Clone(args)
	err := v.Canonicalize()
	return string(v), err == nil
}
