package sessions

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
	"sync"
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

// places replaces two path prefixes by placeholders, only where the prefix is a complete directory.
// Paths occur in text as programs write them, so each prefix is searched in several forms: plain,
// with doubled Windows separators, in a URI.
type places struct {
	forms []form
	count int
}

type form struct{ prefix, place []byte }

func newPlaces(root, home string) *places {
	p := &places{}
	p.add(root, workspacePlace) // first: it is usually inside the home directory
	p.add(home, homePlace)
	return p
}

func (p *places) add(dir, place string) {
	dir = strings.TrimRight(dir, `/\`)
	if dir == "" {
		return
	}
	known := map[string]bool{}
	for _, f := range []string{
		dir, strings.ReplaceAll(dir, `\`, `\\`), strings.ReplaceAll(dir, `\`, `/`),
		(&url.URL{Path: dir}).EscapedPath(),
	} {
		if !known[f] {
			known[f] = true
			p.forms = append(p.forms, form{[]byte(f), []byte(place)})
		}
	}
}

// replace returns text with placeholders. It returns text itself if there is nothing to replace.
func (p *places) replace(text []byte) []byte {
	for _, f := range p.forms {
		text = p.replaceOne(text, f)
	}
	return text
}

func (p *places) replaceOne(text []byte, f form) []byte {
	i := bytes.Index(text, f.prefix)
	if i < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+len(f.place))
	for ; ; i = bytes.Index(text, f.prefix) {
		if i < 0 {
			return append(out, text...)
		}
		end := i + len(f.prefix)
		whole := end == len(text) || !inName(text[end])
		out = append(out, text[:i]...)
		if whole {
			out = append(out, f.place...)
			p.count++
		} else {
			out = append(out, f.prefix...)
		}
		text = text[end:]
	}
}

// Expand returns text with directories in place of the placeholders; an empty directory leaves its
// placeholder.
func Expand(text, root, home string) string {
	back := &places{}
	for _, f := range []form{
		{[]byte(workspacePlace), []byte(root)}, {[]byte(homePlace), []byte(home)},
	} {
		if len(f.place) > 0 {
			back.forms = append(back.forms, f)
		}
	}
	return string(back.replace([]byte(text)))
}

// inName reports whether a byte after a directory continues its name.
func inName(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c >= 0x80 ||
		'0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
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
