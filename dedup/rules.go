package dedup

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// Names of arguments that file tools use.
var (
	pathNames = words("path file file_path filename filepath location uri absolute_path filePath" +
		" notebook_path target_file")
	firstNames   = words("start_line first_line line_start from_line")
	lastNames    = words("end_line last_line line_end to_line")
	partNames    = words("offset limit view_range") // each tool interprets them differently
	contentNames = words("content contents text patterns new_string old_string" +
		" string_to_replace replace_using_regex edits pieces operations diff patch")
	returnNames  = words("return-content return_content")
	placeNames   = words("path location directory dir folder")
	onlyNames    = words("prefixes extensions include includes glob globs pattern patterns")
	exceptNames  = words("exclude excludes ignore")
	recurseNames = words("recurse recursive depth max_depth")
)

// filterName is the key of filters that may either select or exclude matching files.
const filterName = "filters"

func words(s string) []string { return strings.Fields(s) }

// readContent understands tools that read or write one file, or lines of it. It relies on the
// result: the URIs of its resources, with their lines. If there are none it relies on the
// arguments, but only as far as they are unambiguous.
func readContent(c Invocation) ([]Claim, bool) {
	if !c.answered() || !c.Shown() {
		return nil, false
	}
	if c.named() {
		return c.held(), true
	}
	claim, ok := c.asked()
	return []Claim{claim}, ok
}

// held returns the claims of a result with resources, block by block.
func (c Invocation) held() (all []Claim) {
	for i := range c.Result.Blocks {
		b := &c.Result.Blocks[i]
		switch {
		case b.Type == events.BlockResource && b.Resource != nil:
			all = append(all, delivers(b.Resource, c.Contents))
		case b.Type == events.BlockText && b.Content.Size() == 0:
		default:
			all = append(all, Claim{Key: identity(b), First: 1, Gives: true})
		}
	}
	return all
}

// delivers returns the claim of a resource. If the resource has a formatted text with something
// other than its content, it replaces no other. Only those lines in its URI are claimed that the
// content has.
func delivers(r *events.Resource, rd blobs.Reader) Claim {
	c := Claim{Key: r.URI, First: 1}
	c.Gives = !r.Content.IsZero() && (r.Formatted == nil || hasNumbersOnly(r, rd))
	if r.URI == "" {
		c.Key = "\x00" + r.Content.Ref().Hash.String()
	}
	base, fragment, part := strings.Cut(r.URI, "#")
	if first, last, ok := fragmentLines(fragment); part && ok {
		c.Key, c.First, c.Last = base, first, last
		if held, known := rowsOf(r.Content, rd); known {
			c.Rows, c.Gives = held, c.Gives && held > 0
		}
	}
	return c // for a fragment other than lines the entire URI is the name
}

// hasNumbersOnly reports whether a model is given exactly the lines of a resource with numbers
// before them, if both are available.
func hasNumbersOnly(r *events.Resource, rd blobs.Reader) bool {
	if rd == nil && (r.Content.IsRef() || r.Formatted.IsRef()) {
		return false
	}
	content, err := r.Content.Bytes(rd)
	if err != nil {
		return false
	}
	formatted, err := r.Formatted.Bytes(rd)
	if err != nil {
		return false
	}
	want, shown := split(string(content)), newSheet(string(formatted))
	if len(shown.heads) < len(want) {
		return false
	}
	for i, line := range want {
		if strings.TrimRight(shown.bare[i], "\n") != strings.TrimRight(line, "\n") {
			return false
		}
	}
	return len(want) > 0
}

// rowsOf returns the number of lines of content, if it is available.
func rowsOf(c blobs.Content, rd blobs.Reader) (n int, known bool) {
	if c.IsZero() || c.IsRef() && rd == nil {
		return 0, false
	}
	data, err := c.Bytes(rd)
	if err != nil || len(data) == 0 {
		return 0, err == nil
	}
	return rows(string(data)), true
}

var lineFragment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^L([1-9][0-9]{0,8})(?:-L?([1-9][0-9]{0,8}))?$`)
})

// fragmentLines parses the lines in a URI's fragment: "L10-20", "L10-L20" or "L10".
func fragmentLines(fragment string) (first, last int, ok bool) {
	m := lineFragment().FindStringSubmatch(fragment)
	if m == nil {
		return 0, 0, false
	}
	first, _ = strconv.Atoi(m[1]) // at most nine digits
	last = first
	if m[2] != "" {
		last, _ = strconv.Atoi(m[2])
	}
	return first, last, first <= last
}

// asked returns the claim of a text result, from the arguments. An unknown argument could narrow
// the read, and tools interpret values of other types differently; in both cases nothing is
// claimed.
func (c Invocation) asked() (Claim, bool) {
	args, ok := decode(c.Arguments)
	if !ok {
		return Claim{}, false
	}
	name, ok := args.text(pathNames)
	key := c.fileKey(name)
	text, whole := c.text()
	if !ok || key == "" || !whole {
		return Claim{}, false
	}
	if args.has(contentNames, returnNames) {
		return Claim{Key: key, First: 1, Rows: rows(text), Gives: true}, c.shows(args, text)
	}
	if from, to, ok := numbered(text); ok && TradeOf(c.Tool) == Reader {
		return args.numbered(key, from, to)
	}
	first, ok1 := args.line(firstNames)
	last, ok2 := args.line(lastNames)
	if !ok1 || !ok2 || !args.only(pathNames, firstNames, lastNames) || last > 0 && last < first {
		return Claim{}, false
	}
	claim := Claim{Key: key, First: max(first, 1), Rows: rows(text)}
	claim.Gives = strings.TrimSpace(text) != ""
	if last > 0 { // a tool may show fewer
		claim.Last, claim.Rows = min(last, claim.First+claim.Rows-1), 0
	}
	return claim, true
}

// numbered returns the claim of a text with line numbers, whatever was requested. It only matters
// whether a part was requested; if not, the last line is the end of the file.
func (a arguments) numbered(key string, first, last int) (Claim, bool) {
	if !a.only(pathNames, firstNames, lastNames, partNames) {
		return Claim{}, false
	}
	claim := Claim{Key: key, First: first, Last: last, Gives: true}
	if !a.has(firstNames, lastNames, partNames) {
		claim.Last, claim.Rows = 0, last-first+1
	}
	return claim, true
}

// changedFiles returns the files that a call has written, moved or removed, by the keys that reads
// of them have.
func changedFiles(c Invocation) (keys []string) {
	args, ok := decode(c.Arguments)
	if !ok || !c.answered() || !c.Shown() || TradeOf(c.Tool) != Writer {
		return nil
	}
	for _, name := range args.written() {
		if key := c.fileKey(name); key != "" {
			keys = append(keys, key)
		}
	}
	for i := range c.Result.Blocks {
		if r := c.Result.Blocks[i].Resource; r != nil && r.URI != "" {
			keys = append(keys, delivers(r, nil).Key)
		}
	}
	return keys
}

// patched matches the lines of a patch that name the files which it changes.
var patched = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$`)
})

// written returns the file names in the arguments of a write.
func (a arguments) written() (names []string) {
	if name, ok := a.text(pathNames); ok {
		names = append(names, name)
	}
	patterns, _ := a["patterns"].([]any) // of fs_modify_file, each with files of its own
	for _, p := range patterns {
		one, _ := p.(map[string]any)
		paths, _ := one["paths"].([]any)
		for _, name := range paths {
			if text, ok := name.(string); ok {
				names = append(names, text)
			}
		}
	}
	for _, v := range a {
		text, _ := v.(string)
		for _, m := range patched().FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// shows reports whether a write returned the new content of the file. If it did not, its result
// holds nothing of the file. With an unknown argument the text may only have been added to the
// file, so that counts as not shown.
func (c Invocation) shows(args arguments, text string) bool {
	says, given := args.flag(returnNames)
	always := c.Tool == "write_file" || c.Tool == "write_pieces"
	if args.has(returnNames) && !given {
		return false // tools interpret a string differently
	}
	if !args.only(pathNames, contentNames, returnNames) || given && !says || !given && !always {
		return false
	}
	written, ok := args.text(contentNames)
	if !ok {
		return c.Tool == "write_pieces"
	}
	for line := range strings.Lines(written) {
		if !strings.Contains(text, strings.TrimRight(line, "\r\n")) {
			return false
		}
	}
	return true
}

// readSurvey understands tools that list a directory: it claims the lines that they returned, for a
// place. Filters are only understood if it is certain that they select.
func readSurvey(c Invocation) ([]Claim, bool) {
	args, ok := decode(c.Arguments)
	groups := [][]string{placeNames, onlyNames, exceptNames, recurseNames, {filterName}}
	if !ok || !c.answered() || !c.Shown() || !args.only(groups...) {
		return nil, false
	}
	text, whole := c.text()
	place, ok := args.place()
	if !ok || !whole {
		return nil, false
	}
	claim := Claim{Key: c.Tool + "\x00" + place, First: 1, Lines: map[string]bool{}, Gives: true}
	for line := range strings.Lines(text) {
		claim.Lines[strings.TrimRight(line, "\r\n")] = true
	}
	if claim.Only, ok = args.sets(onlyNames); !ok {
		return nil, false
	}
	if claim.Except, ok = args.sets(exceptNames); !ok {
		return nil, false
	}
	filters, ok := args.sets([]string{filterName})
	if set := filters[filterName]; areGlobs(set) {
		claim.Only[filterName] = set
	} else if len(set) > 0 {
		claim.Key += "\x00" + strings.Join(set, "\x00")
	}
	// An empty filter, which selects nothing, would be written like an absent one.
	maps.DeleteFunc(claim.Only, func(_ string, set []string) bool { return len(set) == 0 })
	deep, known := args.depth()
	claim.Depth = deep
	return []Claim{claim}, ok && known
}

// areGlobs reports whether filters are patterns that select matching files, without negated ones.
func areGlobs(set []string) bool {
	return len(set) > 0 && !slices.ContainsFunc(set, func(f string) bool {
		return !strings.ContainsAny(f, "*?[") || strings.ContainsAny(f[:1], "!-^")
	})
}

// place returns the directory that is listed, or "" for the tool's default.
func (a arguments) place() (string, bool) {
	if !a.has(placeNames) {
		return "", true
	}
	name, ok := a.text(placeNames)
	name, plain := cleaned(name)
	return name, ok && plain
}

// depth returns how deep a listing goes, as in [Claim.Depth].
func (a arguments) depth() (int, bool) {
	if !a.has(recurseNames) {
		return 0, true
	}
	if deep, ok := a.flag(recurseNames); ok {
		if deep {
			return -1, true
		}
		return 1, true
	}
	return a.line(recurseNames)
}

// fileKey returns a key for the file that an argument names. A relative path is relative to the
// directory of its tool: for our tools and jp's that is the workspace; the tools of an agent share
// one; for any other tool it is unknown, so each tool has keys of its own. It returns "" for a name
// that does not certainly identify one file.
func (c Invocation) fileKey(name string) string {
	name, ok := cleaned(name)
	switch {
	case !ok || name == "" || strings.ContainsAny(name, "%#?\\:\x00"):
		return ""
	case name[0] == '/' && c.ofFiles():
		return "file://" + name
	case isPlaced(name) && c.ofFiles():
		return "file:///" + name
	case strings.HasPrefix(c.Tool, "fs_"):
		return "file:///$WORKSPACE/" + name
	case TradeOf(c.Tool) != NoTrade: // those of one agent, which share a directory
		return "io\x00" + name
	default:
		return c.Tool + "\x00" + name
	}
}

// isPlaced reports whether an import put a variable before a path that was absolute in the agent's
// session.
func isPlaced(name string) bool {
	return strings.HasPrefix(name, "$WORKSPACE/") || strings.HasPrefix(name, "$HOME/")
}

// ofFiles reports whether the tool is known to work on files.
func (c Invocation) ofFiles() bool {
	return strings.HasPrefix(c.Tool, "fs_") || TradeOf(c.Tool) != NoTrade
}

// cleaned returns the canonical form of a path, or false if that requires reading the disk: the
// parent of a symbolic link's target is not the directory before it.
func cleaned(name string) (string, bool) {
	if name == "" {
		return "", true
	}
	return path.Clean(name), !slices.Contains(strings.Split(name, "/"), "..")
}

// FileOf returns the key of the file that a call is about, from its result or else from its
// arguments.
func FileOf(c Invocation) (key string, ok bool) {
	if c.Result != nil {
		for _, b := range c.Result.Blocks {
			if b.Resource != nil && b.Resource.URI != "" {
				return delivers(b.Resource, nil).Key, true
			}
		}
	}
	args, ok := decode(c.Arguments)
	if !ok {
		return "", false
	}
	name, ok := args.text(pathNames)
	key = c.fileKey(name)
	return key, ok && key != ""
}
