package command

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Syntax is the syntax of a file that can include others.
type Syntax string

// The files whose includes are recognized. Computed names, and commands in recipes, are not.
const (
	Justfile Syntax = "justfile"
	Makefile Syntax = "makefile"
)

// SyntaxOf returns the syntax of a runner's file, "" for a file without includes.
func SyntaxOf(name string) Syntax {
	base := path.Base(name)
	switch {
	case strings.TrimPrefix(strings.ToLower(base), ".") == "justfile" || path.Ext(base) == ".just":
		return Justfile
	case slices.Contains(runners["make"], base) || base == "BSDmakefile" || path.Ext(base) == ".mk":
		return Makefile
	}
	return ""
}

var (
	justImport = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^import\??[ \t]+(?:'([^']+)'|"([^"\\]+)")`)
	})
	justModule = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`^mod\??[ \t]+([A-Za-z_][A-Za-z0-9_-]*)(?:[ \t]+(?:'([^']+)'|"([^"\\]+)"))?` +
				`[ \t]*(?:#.*)?$`)
	})
	continued = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\\\r?\n`)
	})
	makeInclude = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[ .]*(?:-include|[sd]?include)[ \t]+([^#]*)`)
	})
)

// sources returns the files of which GNU make makes a makefile by its built-in rules before it
// reads it, if they are newer: a clone has whatever was pulled last as the newer one.
func sources(makefile string) []string {
	dir, base := path.Split(makefile)
	all := []string{
		makefile + ",v", dir + "RCS/" + base + ",v", dir + "RCS/" + base, dir + "s." + base,
		dir + "SCCS/s." + base,
	}
	for _, end := range []string{
		".sh", ".o", ".c", ".cc", ".C", ".cpp", ".p", ".f", ".F", ".m", ".r", ".s", ".S", ".mod",
		".y", ".l", ".ym", ".yl", ".w", ".web",
	} {
		all = append(all, makefile+end)
	}
	return all
}

// Includes returns the files that a file includes by a literal name, relative to the directory in
// which its command starts, whether they exist or not, and the sources of makefiles.
func (s Syntax) Includes(name string, text []byte) (names []string) {
	if s == Makefile {
		text = continued().ReplaceAll(text, []byte(" "))
	}
	for line := range bytes.Lines(text) {
		line := strings.TrimRight(string(line), "\r\n")
		var found []string
		switch s {
		case Justfile:
			found = justIncludes(path.Dir(name), line)
		case Makefile:
			found = makeIncludes(line)
		}
		for _, f := range found {
			if f = path.Clean(f); !slices.Contains(names, f) {
				names = append(names, f)
			}
		}
	}
	return names
}

// justIncludes returns the names in a line: the file of an import, or all candidates for a module.
func justIncludes(dir, line string) []string {
	below := func(name string) string {
		if path.IsAbs(name) {
			return name
		}
		return path.Join(dir, name)
	}
	if m := justImport().FindStringSubmatch(line); m != nil {
		return []string{below(m[1] + m[2])}
	}
	m := justModule().FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	at, names := m[2]+m[3], []string{}
	if at == "" {
		at, names = m[1], append(names, below(m[1]+".just"))
	} else {
		names = append(names, below(at))
	}
	for _, f := range append([]string{"mod.just"}, runners["just"]...) {
		names = append(names, below(path.Join(at, f)))
	}
	return names
}

func makeIncludes(line string) (names []string) {
	m := makeInclude().FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	for f := range strings.FieldsSeq(m[1]) {
		if f = strings.Trim(f, `"<>`); !strings.ContainsAny(f, "$*?[\\") { // quoted for bmake
			names = append(append(names, f), sources(f)...)
		}
	}
	return names
}
