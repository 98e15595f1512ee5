package file

import (
	"errors"
	"fmt"
	"strings"
)

const (
	scheme = "file:"
	// anchor is the root of the workspace in a canonical URI.
	anchor = "$WORKSPACE"
	// anchored is the prefix of every canonical URI of a file in the workspace.
	anchored = "file:///" + anchor
)

// IsURI reports whether s is a URI of a file.
func IsURI(s string) bool {
	return len(s) >= len(scheme) && strings.EqualFold(s[:len(scheme)], scheme)
}

// Expand replaces $WORKSPACE in uri by the absolute path of root, for models and users. It looks
// only at the text, and returns any other URI unchanged.
func Expand(root, uri string) string {
	rest, ok := cutAnchor(uri)
	if !ok {
		return uri
	}
	base := absolute(root, isWindows)
	if rest != "" && rest[0] == '/' {
		base = strings.TrimSuffix(base, "/")
	}
	return base + rest
}

// cutAnchor removes the prefix with $WORKSPACE from a URI.
func cutAnchor(uri string) (string, bool) {
	rest, ok := strings.CutPrefix(uri, anchored)
	return rest, ok && (rest == "" || strings.IndexByte("/#?", rest[0]) >= 0)
}

// absolute returns the URI of an absolute path of the operating system.
func absolute(path string, windows bool) string {
	host, p := "", path
	if windows {
		host, p = windowsForm(path)
	}
	p = encode(p)
	if p == "/"+anchor || strings.HasPrefix(p, "/"+anchor+"/") {
		p = "/%24" + p[len("/$"):]
	}
	return "file://" + host + p
}

// windowsForm returns the host and the slash path of an absolute path of Windows: C:\x,
// \\server\share\x and both with the prefix \\?\.
func windowsForm(path string) (host, p string) {
	p = strings.ReplaceAll(path, `\`, "/")
	if rest, ok := strings.CutPrefix(p, "//?/UNC/"); ok {
		p = "//" + rest
	} else {
		p = strings.TrimPrefix(p, "//?/")
	}
	if rest, ok := strings.CutPrefix(p, "//"); ok {
		host, p, _ = strings.Cut(rest, "/")
		return strings.ToLower(host), "/" + p
	}
	if isDrive(p) {
		p = "/" + strings.ToUpper(p[:1]) + ":" + p[2:]
	}
	return "", p
}

// isDrive reports whether p begins with a drive, as "c:" or the old "c|".
func isDrive(p string) bool {
	return len(p) >= 2 && isLetter(p[0]) && (p[1] == ':' || p[1] == '|') &&
		(len(p) == 2 || p[2] == '/')
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// A form is a parsed URI of a file, before any link is resolved.
type form struct {
	path     string // decoded, with slashes
	relative bool   // to the root of the workspace
	fragment string // normalised, with its '#', or ""
}

var (
	errQuery = errors.New("it has a query")
	errSlash = errors.New("a name in it has an encoded separator")
	errNUL   = errors.New("it has a NUL byte")
	errPath  = errors.New("it has no path")
)

// parse reads a URI of a file in any form that users and programs write.
func parse(uri string, windows bool) (form, error) {
	rest, fragment, found := strings.Cut(uri[len(scheme):], "#")
	if strings.IndexByte(rest, '?') >= 0 {
		return form{}, errQuery
	}
	var f form
	if found {
		f.fragment = "#" + Normalize(fragment)
	}
	raw, relative := locate(rest, windows)
	if after, ok := strings.CutPrefix(raw, "/"+anchor); ok && (after == "" || after[0] == '/') {
		raw, relative = "."+after, true
	}
	path, err := decode(raw, windows)
	f.path, f.relative = path, relative
	return f, err
}

// locate splits off the authority. A host that cannot be one, as in file://src/main.go, is the
// first directory of a path relative to the root, which is what users mean by it.
func locate(rest string, windows bool) (raw string, relative bool) {
	after, ok := strings.CutPrefix(rest, "//")
	if !ok {
		if windows && isDrive(rest) {
			return "/" + rest, false
		}
		return rest, !strings.HasPrefix(rest, "/")
	}
	host, path, _ := strings.Cut(after, "/")
	switch {
	case host == "" || strings.EqualFold(host, "localhost"):
		return "/" + path, false
	case windows && isDrive(host):
		return "/" + after, false
	case windows:
		return "//" + after, false // a Windows share
	}
	return after, true
}

// decode returns the path that raw encodes.
func decode(raw string, windows bool) (string, error) {
	if raw == "" {
		return "", errPath
	}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '%' {
			var ok bool
			if c, ok = unhex(raw[i+1:]); !ok {
				return "", fmt.Errorf("%q is not a percent-encoding", raw[i:min(i+3, len(raw))])
			}
			if i += 2; c == '/' || windows && c == '\\' {
				return "", errSlash
			}
		}
		if c == 0 {
			return "", errNUL
		}
		b.WriteByte(c)
	}
	p := b.String()
	if windows && len(p) > 2 && isDrive(p[1:]) {
		p = p[1:2] + ":" + p[3:]
	}
	return p, nil
}

// unhex reads the two digits of a percent-encoding.
func unhex(s string) (byte, bool) {
	if len(s) < 2 {
		return 0, false
	}
	hi, ok1 := digit(s[0])
	lo, ok2 := digit(s[1])
	return hi<<4 | lo, ok1 && ok2
}

func digit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// encode percent-encodes a slash path, byte for byte, with as few encoded bytes as RFC 3986 allows.
func encode(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; isPathByte(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func isUnreserved(c byte) bool {
	return isLetter(c) || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func isPathByte(c byte) bool {
	return isUnreserved(c) || strings.IndexByte("!$&'()*+,;=:@/", c) >= 0
}

// Normalize gives every percent-encoding its canonical form (RFC 3986, 6.2.2): decoded for
// unreserved characters, capital digits for the others. It also encodes characters that are not
// allowed in a URI.
func Normalize(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		encoded := false
		if d, ok := unhex(s[i+1:]); c == '%' && ok {
			c, encoded = d, true
			i += 2
		}
		if isUnreserved(c) || !encoded && (isPathByte(c) || c == '?') {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
