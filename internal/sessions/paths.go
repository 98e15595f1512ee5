package sessions

import (
	"bytes"
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Placeholders for the root of the working tree and for a home directory, as in the URIs of files.
const (
	workspacePlace = "$WORKSPACE"
	homePlace      = "$HOME"
)

// home matches a home directory at the beginning of a directory that an agent recorded.
var home = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^(?:/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:[\\/]Users[\\/][^\\/]+)`)
})

// HomeOf returns the home directory that contains a recorded directory, "" if none does.
func HomeOf(dir string) string { return home().FindString(dir) }

// places replaces two directories by placeholders, only where a path has the complete name. Paths
// occur in text as programs write them, so each directory is searched in several spellings.
type places struct{ dirs []directory }

// A directory is replaced by place.
type directory struct {
	place     []byte
	spellings [][]byte
	core      []byte // occurs in all spellings: most texts have it not, and are searched once
	ascii     bool   // whether the name ends with an ASCII character
}

func newPlaces(root, home string) *places {
	p := &places{}
	p.add(root, workspacePlace) // first: it is usually inside the home directory
	p.add(home, homePlace)
	return p
}

func (p *places) add(dir, place string) {
	if dir = strings.TrimRight(dir, `/\`); dir != "" {
		p.dirs = append(p.dirs, newDirectory(place, spellings(dir)...))
	}
}

func newDirectory(place string, spellings ...string) directory {
	d := directory{place: []byte(place)}
	d.core, d.ascii = core(spellings[0]), spellings[0][len(spellings[0])-1] < utf8.RuneSelf
	slices.Sort(spellings[1:])
	for _, s := range slices.Compact(spellings) {
		d.spellings = append(d.spellings, []byte(s))
	}
	return d
}

// spellings returns a directory as it is named: plain, in JSON text that is itself quoted once or
// twice, with slashes for backslashes, in a URI, and as a part of one; a drive in both cases, and
// as a directory, as in a Unix shell on Windows.
func spellings(dir string) (all []string) {
	for _, dir := range drives(dir) {
		slashes := strings.ReplaceAll(dir, `\`, `/`)
		component := strings.ReplaceAll(url.QueryEscape(dir), "+", "%20")
		all = append(all,
			dir, strings.ReplaceAll(dir, `\`, `\\`), strings.ReplaceAll(dir, `\`, `\\\\`), slashes,
			strings.ReplaceAll(dir, `/`, `\/`), strings.ReplaceAll(dir, `/`, `\\/`),
			strings.Trim(strconv.QuoteToASCII(slashes), `"`),
			(&url.URL{Path: slashes}).EscapedPath(), url.PathEscape(dir),
			component, lowerEscapes(component),
		)
	}
	return all
}

func drives(dir string) []string {
	if !isDrive(strings.ReplaceAll(dir, `\`, `/`)) {
		return []string{dir}
	}
	lower, rest := strings.ToLower(dir[:1]), dir[1:]
	return []string{
		dir, lower + rest, strings.ToUpper(lower) + rest,
		"/" + lower + strings.ReplaceAll(rest[1:], `\`, `/`),
	}
}

// lowerEscapes returns a percent-encoded text with escapes in lower case.
func lowerEscapes(s string) string {
	parts := strings.Split(s, "%")
	for i, part := range parts[1:] {
		parts[i+1] = strings.ToLower(part[:2]) + part[2:]
	}
	return strings.Join(parts, "%")
}

// core returns the longest run of ASCII letters and digits, which no spelling changes.
func core(dir string) []byte {
	if isDrive(strings.ReplaceAll(dir, `\`, `/`)) {
		dir = dir[2:]
	}
	runs := strings.FieldsFunc(dir, func(r rune) bool {
		return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	slices.SortFunc(runs, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return []byte(strings.Join(runs[:min(1, len(runs))], ""))
}

// replace returns text with placeholders. It returns text itself if there is nothing to replace.
func (p *places) replace(text []byte) []byte {
	for _, d := range p.dirs {
		if !bytes.Contains(text, d.core) {
			continue
		}
		for _, s := range d.spellings {
			text = d.replace(text, s)
		}
	}
	return text
}

func (d directory) replace(text, spelling []byte) []byte {
	i := bytes.Index(text, spelling)
	if i < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+len(d.place))
	for ; ; i = bytes.Index(text, spelling) {
		if i < 0 {
			return append(out, text...)
		}
		end := i + len(spelling)
		out = append(out, text[:i]...)
		if d.endsBefore(text[end:]) {
			out = append(out, d.place...)
		} else {
			out = append(out, spelling...)
		}
		text = text[end:]
	}
}

// Expand returns text with directories in place of the placeholders; an empty directory leaves its
// placeholder.
func Expand(text, root, home string) string {
	back := &places{}
	for _, d := range []directory{
		newDirectory(root, workspacePlace), newDirectory(home, homePlace),
	} {
		if len(d.place) > 0 {
			back.dirs = append(back.dirs, d)
		}
	}
	return string(back.replace([]byte(text)))
}

// endsBefore reports whether a name is complete before rest. Full stops, hyphens and underscores
// continue it only where a letter or digit follows: else they end a sentence, or mark text in
// Markdown. So "/home/ada." is /home/ada, and "/home/ada.old" another directory.
//
// Scripts without spaces continue no name that ends in ASCII: the next word follows it directly.
func (d directory) endsBefore(rest []byte) bool {
	more := bytes.TrimLeft(rest, "._-")
	if len(more) == 0 {
		return true
	}
	r, _ := utf8.DecodeRune(more)
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
		return d.ascii
	}
	return r != utf8.RuneError && !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit)
}

// uri returns the canonical URI of a file that an agent named, relative to the agent's directory.
func (p *places) uri(file, dir string) string {
	file = strings.ReplaceAll(file, `\`, `/`)
	if !strings.HasPrefix(file, "/") && !isDrive(file) {
		file = strings.TrimRight(strings.ReplaceAll(dir, `\`, `/`), "/") + "/" + file
	}
	name := string(p.replace([]byte(file)))
	for _, place := range []string{workspacePlace, homePlace} {
		if rest, ok := strings.CutPrefix(name, place); ok {
			return "file:///" + place + (&url.URL{Path: rest}).EscapedPath()
		}
	}
	if isDrive(name) {
		name = "/" + name
	}
	return "file://" + (&url.URL{Path: name}).EscapedPath()
}

func isDrive(file string) bool {
	return len(file) > 2 && file[1] == ':' && file[2] == '/'
}
