package dedup

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/events"
)

// Names of arguments, as tools for files have them.
var (
	pathNames    = words("path file file_path filename filepath location uri")
	firstNames   = words("start_line first_line line_start from_line")
	lastNames    = words("end_line last_line line_end to_line")
	contentNames = words("content contents text patterns new_string old_string" +
		" string_to_replace replace_using_regex edits pieces operations diff patch")
	returnNames  = words("return-content return_content")
	placeNames   = words("path location directory dir folder")
	onlyNames    = words("prefixes extensions include includes glob globs pattern patterns")
	exceptNames  = words("filters exclude excludes ignore")
	recurseNames = words("recurse recursive depth max_depth")
)

func words(s string) []string { return strings.Fields(s) }

// readContent understands tools that read or write one file, or lines of it. Arguments that
// it does not know could narrow what is read, so that it then understands nothing.
func readContent(c Invocation) (Claim, bool) {
	args, ok := decode(c.Arguments)
	if !ok {
		return Claim{}, false
	}
	name, ok := args.text(pathNames)
	if !ok {
		return Claim{}, false
	}
	claim := Claim{Key: fileKey(name), First: 1, Gives: c.answered()}
	if claim.Key == "" {
		return Claim{}, false
	}
	if args.has(contentNames) || args.has(returnNames) {
		claim.Gives = claim.Gives && returns(c, args, claim.Key)
		return claim, true
	}
	if !args.only(pathNames, firstNames, lastNames) {
		return Claim{}, false
	}
	if first, last, ok := fragment(name); ok {
		claim.First, claim.Last = first, last
	}
	if n, ok := args.number(firstNames); ok {
		claim.First = max(n, 1)
	}
	if n, ok := args.number(lastNames); ok {
		claim.Last = max(n, 0)
	}
	return claim, true
}

// returns reports whether a write shows what the file is now: it says so, or it returned the
// file.
func returns(c Invocation, args arguments, key string) bool {
	if shown, ok := args.flag(returnNames); ok {
		return shown
	}
	if c.Tool == "write_file" || c.Tool == "write_pieces" {
		return true // these always do
	}
	for _, b := range c.Result.Blocks {
		if b.Resource != nil && resourceKey(b.Resource.URI) == key && !isPart(b.Resource.URI) {
			return true
		}
	}
	return false
}

// readSurvey understands tools that list a directory.
func readSurvey(c Invocation) (Claim, bool) {
	args, ok := decode(c.Arguments)
	if !ok || !args.only(placeNames, onlyNames, exceptNames, recurseNames) {
		return Claim{}, false
	}
	place, _ := args.text(placeNames)
	claim := Claim{
		Key: c.Tool + "\x00" + path.Clean("/"+place), First: 1, Depth: 1, Gives: c.answered(),
	}
	if claim.Only, ok = args.sets(onlyNames); !ok {
		return Claim{}, false
	}
	if claim.Except, ok = args.sets(exceptNames); !ok {
		return Claim{}, false
	}
	// What lets nothing through is written as what lets everything through.
	maps.DeleteFunc(claim.Only, func(_ string, set []string) bool { return len(set) == 0 })
	if deep, ok := args.flag(recurseNames); ok && deep {
		claim.Depth = -1
	}
	if n, ok := args.number(recurseNames); ok {
		claim.Depth = n
	}
	return claim, true
}

// fileKey names a file however a tool spelled it.
func fileKey(name string) string {
	if key := resourceKey(name); key != "" {
		return key
	}
	if name == "" || strings.Contains(name, "://") {
		return ""
	}
	return "file:" + strings.TrimPrefix(path.Clean("/"+name), "/")
}

// resourceKey names the thing that a URI is of, without a fragment; "" for what is no URI.
func resourceKey(uri string) string {
	const workspace = "file:///$WORKSPACE/"
	whole, _, _ := strings.Cut(uri, "#")
	if name, ok := strings.CutPrefix(whole, workspace); ok {
		return fileKey(name)
	}
	if strings.Contains(whole, "://") {
		return whole
	}
	return ""
}

func isPart(uri string) bool { return strings.Contains(uri, "#") }

// fragment reads the lines of a URI that ends with "#L10-20".
func fragment(uri string) (first, last int, ok bool) {
	_, text, found := strings.Cut(uri, "#L")
	if !found {
		return 0, 0, false
	}
	from, to, ranged := strings.Cut(text, "-")
	first, err := strconv.Atoi(from)
	if err != nil {
		return 0, 0, false
	}
	last = first
	if ranged {
		if last, err = strconv.Atoi(strings.TrimPrefix(to, "L")); err != nil {
			return 0, 0, false
		}
	}
	return first, last, true
}

// delivers returns the claim of a resource that was attached, which is there whole.
func delivers(r *events.Resource) (Claim, bool) {
	key := resourceKey(r.URI)
	if key == "" || r.Content.IsZero() {
		return Claim{}, false
	}
	c := Claim{Key: key, First: 1, Gives: true}
	if isPart(r.URI) {
		var ok bool
		if c.First, c.Last, ok = fragment(r.URI); !ok {
			return Claim{}, false
		}
	}
	return c, true
}

// arguments are those of a call, by name.
type arguments map[string]any

func decode(v []byte) (arguments, bool) {
	args := arguments{}
	if len(v) == 0 {
		return args, true
	}
	if json.Unmarshal(v, &args) != nil {
		return nil, false
	}
	maps.DeleteFunc(args, func(_ string, v any) bool { return v == nil })
	return args, true
}

func (a arguments) has(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, ok := a[n]; return ok })
}

// only reports whether there are no arguments but these.
func (a arguments) only(groups ...[]string) bool {
	known := slices.Concat(groups...)
	for name := range a {
		if !slices.Contains(known, name) {
			return false
		}
	}
	return true
}

func find[T any](a arguments, names []string) (v T, ok bool) {
	for _, n := range names {
		if v, ok = a[n].(T); ok {
			return v, true
		}
	}
	return v, false
}

func (a arguments) text(names []string) (string, bool) { return find[string](a, names) }

func (a arguments) flag(names []string) (value, ok bool) { return find[bool](a, names) }

func (a arguments) number(names []string) (int, bool) {
	n, ok := find[float64](a, names)
	return int(n), ok && n == float64(int(n))
}

// sets reads filters, each a word or a list of words.
func (a arguments) sets(names []string) (map[string][]string, bool) {
	sets := map[string][]string{}
	for _, n := range names {
		switch v := a[n].(type) {
		case nil:
		case string:
			sets[n] = []string{v}
		case []any:
			set := []string{}
			for _, item := range v {
				s, ok := item.(string)
				if !ok {
					return nil, false
				}
				set = append(set, s)
			}
			slices.Sort(set)
			sets[n] = slices.Compact(set)
		default:
			return nil, false
		}
	}
	return sets, true
}
