package attach

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/tool/file"
)

// Schemes of our handlers. Those of MCP begin with mcp+.
const (
	schemeFile = "file"
	schemeCmd  = "cmd"
	schemeJP   = "jp"
	mcpPrefix  = "mcp+"
)

// Argument returns the attachment for an argument of the command line: a URL, the id of a
// conversation, or a path or pattern relative to the directory cwd. A path that begins with !
// excludes.
func Argument(arg, cwd string, tree *file.Tree) (string, error) {
	if events.URIScheme(arg) != "" {
		return fileBelow(arg, tree), nil
	}
	id, selector, selects := strings.Cut(arg, "?")
	if _, err := events.ParseID(id); err == nil && strings.HasPrefix(id, "jp-c") {
		return conversation(id, selector, selects), nil
	}
	name, excludes := strings.CutPrefix(arg, "!")
	if filepath.IsAbs(name) {
		cwd = ""
	}
	rel, err := below(tree, cwd, name)
	if err != nil {
		return "", fmt.Errorf("attach %q: %w", arg, err)
	}
	u := "file:" + escapeName(rel)
	if excludes {
		return u + "?exclude=true", nil
	}
	return u, nil
}

func escapeName(name string) string {
	return strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23").Replace(name)
}

// fileBelow returns the URL of a file relative to the root, if it names one below the root by its
// place on this machine. In the configuration a path begins at the root, whatever precedes it.
func fileBelow(u string, tree *file.Tree) string {
	rest, isFile := strings.CutPrefix(u, "file:///")
	if !isFile {
		return u
	}
	name, after := rest, ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		name, after = rest[:i], rest[i:]
	}
	rel, err := below(tree, "", string(filepath.Separator)+filepath.FromSlash(unescape(name)))
	if err != nil {
		return u
	}
	return "file:" + escapeName(filepath.ToSlash(rel)) + after
}

func conversation(id, selector string, selects bool) string {
	u := "jp://" + id
	switch {
	case !selects:
		return u
	case strings.HasPrefix(selector, "select"), strings.HasPrefix(selector, "raw"):
		return u + "?" + selector
	}
	return u + "?select=" + selector
}

// below returns the path of a name in dir relative to the root. If it does not exist, the name must
// be a pattern, and is resolved by the directory that the pattern starts in.
func below(tree *file.Tree, dir, name string) (string, error) {
	rel, _, err := tree.Stat(filepath.Join(dir, name))
	if err == nil {
		return rel, nil
	}
	base, pattern := doublestar.SplitPattern(filepath.ToSlash(filepath.Clean(name)))
	if !errors.Is(err, fs.ErrNotExist) || !isPattern(pattern) {
		return "", err
	}
	if rel, err = tree.Rel(filepath.Join(dir, filepath.FromSlash(base))); err != nil {
		return "", err
	}
	if rel == "." {
		return pattern, nil
	}
	return regular.Literal(rel) + "/" + pattern, nil
}

// query parses the parameters of an attachment, and rejects unknown names.
func query(raw string, known ...string) (url.Values, error) {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	unknown := slices.DeleteFunc(slices.Sorted(maps.Keys(q)), func(name string) bool {
		return slices.Contains(known, name)
	})
	if len(unknown) > 0 {
		return nil, fmt.Errorf("unknown parameters: %s", strings.Join(unknown, ", "))
	}
	return q, nil
}

// flag returns a boolean parameter: true if present, unless its value is "false".
func flag(q url.Values, name string) bool { return q.Has(name) && q.Get(name) != "false" }

// unescape decodes percent-encodings and keeps invalid ones.
func unescape(s string) string {
	if out, err := url.PathUnescape(s); err == nil {
		return out
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if out, err := url.PathUnescape(s[i : i+3]); err == nil {
				b.WriteString(out)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
