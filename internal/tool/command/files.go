package command

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A Place is the directory in which a command starts. Names in it are relative, with slashes.
type Place struct {
	Root string   // its absolute path
	Up   int      // how many directories above it are of the same repository
	Path []string // directories of the repository in which programs are looked for
	// List returns the names in a directory, ok false if there is none.
	List func(dir string) (names []string, ok bool)
	// Has reports whether a file or directory may exist.
	Has func(name string) bool
	// Left is how many names all lines together may still try.
	Left *int
}

// Limits of what a line can name, so that a hostile one ends.
const (
	maxBases = 64
	maxWords = 1 << 12
	maxTried = 1 << 17
)

// Files returns the files that a command line runs, whether they exist or not: those that it names,
// relative to any directory that it names, and those that its programs look for. Names that a shell
// puts together are recognized if an expansion stands before or after a slash. It prefers one file
// too many: of that, a change is asked about in vain, while nobody would notice one that is
// missing. More says that there are others. Dirs are the directories that the line names, with ".".
func (p Place) Files(words []string, shell bool) (names, dirs []string, more bool) {
	if len(words) == 0 {
		return nil, nil, false
	}
	c := collector{place: p, seen: map[string]bool{}, script: shell || Starts(words)}
	c.left = min(maxTried, *p.Left)
	defer func() { *p.Left -= c.tried }()
	c.split(words)
	bases := []string{"."}
	if program := Base(words[0]); c.script || program == "git" || loaders[program] != nil {
		bases = c.bases()
	}
	programs := words[:1]
	if c.script {
		programs = append(programs[:1:1], c.words...)
	}
	for _, base := range bases {
		for _, w := range c.words {
			if w != words[0] || strings.Contains(w, "/") { // else it is looked up in PATH
				c.add(base, w)
			}
		}
		for _, w := range programs {
			c.looked(base, Base(w))
		}
	}
	for _, base := range p.Path {
		for _, w := range programs {
			if !strings.Contains(w, "/") {
				c.add(base, w)
			}
		}
	}
	more = c.tried == c.left || len(bases) == maxBases || len(c.words) == maxWords
	return c.names, bases, more
}

// A collector collects names.
type collector struct {
	place  Place
	script bool     // the line has commands in it
	words  []string // of the line, and their parts
	parts  map[string]bool
	names  []string
	seen   map[string]bool

	tried, left int
}

// has counts and tries a name.
func (c *collector) has(name string) bool {
	if c.tried == c.left {
		return false
	}
	c.tried++
	return c.place.Has(name)
}

// add adds a name below a directory.
func (c *collector) add(base, name string) {
	if c.tried == c.left {
		return // even joining takes time
	}
	name = path.Join(base, name)
	if name != "." && !c.seen[name] && c.has(name) {
		c.seen[name], c.names = true, append(c.names, name)
	}
}

// split finds the words. In a script, in a template and in an argument that may be a command any
// part may be one, with and without the quotes in it.
func (c *collector) split(words []string) {
	c.parts = map[string]bool{}
	for _, w := range words {
		c.take(w, false)
		if !c.script && (strings.Contains(w, "{{") || strings.Contains(w, "{%") ||
			strings.ContainsAny(w, " \t\n")) {
			c.scan(w)
		}
	}
	if c.script {
		c.scan(strings.Join(words, " "))
	}
}

func (c *collector) scan(text string) {
	expands := strings.ContainsAny(text, "$`~{")
	all, _ := Words(text) // without the words if a quote is open
	plain := strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(text)
	all = slices.Concat(all, strings.FieldsFunc(text, isBetween),
		strings.FieldsFunc(plain, isBetween))
	for _, w := range all {
		c.take(w, expands)
	}
}

// isBetween reports whether a character is between the words of a script.
func isBetween(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("'\"`;&|()<>$", r) }

// take adds a word, and what it has behind the letter of an option or next to a sign that separates
// names.
func (c *collector) take(w string, expands bool) {
	c.word(w, expands)
	if len(w) > 2 && w[0] == '-' {
		c.word(w[2:], expands)
	}
	parts := strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("=,:@{}%", r) })
	for _, part := range parts {
		c.word(part, expands)
	}
}

func (c *collector) word(w string, expands bool) {
	w = filepath.ToSlash(w)
	if below, ok := strings.CutPrefix(w, filepath.ToSlash(c.place.Root)+"/"); ok {
		w = below
	}
	for {
		if w != "" && w[0] != '/' && !c.parts[w] && len(c.words) < maxWords {
			c.parts[w], c.words = true, append(c.words, w)
		}
		_, rest, more := strings.Cut(w, "/")
		if !more || !expands {
			return
		}
		w = rest
	}
}

// bases returns the directories that the words name, each relative to any of them.
func (c *collector) bases() []string {
	bases := []string{"."}
	for i := 0; i < len(bases); i++ {
		for _, w := range c.words {
			if len(bases) == maxBases || c.tried == c.left {
				return bases
			}
			dir := path.Join(bases[i], w)
			if !c.has(dir) || slices.Contains(bases, dir) {
				continue
			}
			if _, ok := c.place.List(dir); ok {
				bases = append(bases, dir)
			}
		}
	}
	return bases
}

// looked adds the files that a program looks for by itself.
func (c *collector) looked(base, program string) {
	files := slices.Concat(runners[program], loaders[program])
	for _, dir := range c.searched(base, program, len(files) > 0) {
		listed, _ := c.place.List(dir)
		for _, file := range files {
			c.add(dir, file)
			for _, name := range listed { // just ignores case, and so do some file systems
				if strings.EqualFold(name, file) {
					c.add(dir, name)
				}
			}
		}
	}
	switch {
	case program == "go":
		c.packages(base)
	case program == "git":
		c.gitDir(base)
	case program == "make" || program == "gmake":
		c.remade(base, files)
	case slices.Contains(installers, program):
		c.installed(base)
	}
	if len(endings[program]) > 0 {
		c.modules(base, endings[program])
	}
}

// searched returns the directories in which a program looks for files: the one where it starts and
// those above it, and for just the one that is before the name of a recipe (just sub/test).
func (c *collector) searched(base, program string, any bool) (dirs []string) {
	for up := 0; any && up <= c.place.Up; up++ {
		dirs = append(dirs, path.Join(base, strings.Repeat("../", up)))
	}
	for _, w := range c.words {
		if i := strings.LastIndexByte(w, '/'); program == "just" && i > 0 {
			dirs = append(dirs, path.Join(base, w[:i]))
		}
	}
	return dirs
}

// remade adds the sources of makefiles: those that make looks for, and those that a word may name.
func (c *collector) remade(base string, files []string) {
	for _, w := range c.words {
		if c.has(path.Join(base, w)) {
			files = append(files, w)
		}
	}
	for _, file := range files {
		for _, source := range sources(file) {
			c.add(base, source)
		}
	}
}

// installed adds the programs of installed packages, which may be committed.
func (c *collector) installed(base string) {
	for up := 0; up <= c.place.Up; up++ {
		dir := path.Join(base, strings.Repeat("../", up), "node_modules")
		if !c.has(dir) {
			continue
		}
		for _, w := range c.words {
			c.add(dir, path.Join(".bin", w))
		}
	}
}

// modules adds files of code that a word names without the ending, and the packages around them,
// which are run first.
func (c *collector) modules(base string, ends []string) {
	for _, w := range c.words {
		module := strings.ReplaceAll(w, ".", "/")
		for _, end := range ends {
			c.add(base, w+end)
			c.add(base, module+end)
		}
		if strings.Contains(w, "/") {
			continue
		}
		for i := range module {
			for _, end := range ends {
				if module[i] == '/' {
					c.add(base, module[:i]+end)
				}
			}
		}
	}
}

// gitDir adds what makes git start programs in a directory that a line names: as git's own, or as
// that of hooks, of commands or of a template.
func (c *collector) gitDir(dir string) {
	below := func(dir string) {
		listed, _ := c.place.List(dir)
		for _, name := range listed {
			c.add(dir, name)
		}
	}
	own := c.has(path.Join(dir, "HEAD"))
	if own {
		c.add(dir, "config")
	}
	if own || dir != "." && c.says("template") {
		below(path.Join(dir, "hooks"))
	}
	if dir != "." && c.says("hookspath", "exec-path", "exec_path") {
		below(dir)
	}
}

// says reports whether a word has one of these parts, in whatever case.
func (c *collector) says(parts ...string) bool {
	return slices.ContainsFunc(c.words, func(w string) bool {
		w = strings.ToLower(w)
		return slices.ContainsFunc(parts, func(part string) bool {
			return strings.Contains(w, part)
		})
	})
}

// packages adds the files of the directories that go run starts, and those that tell go generate
// what to start.
func (c *collector) packages(base string) {
	if !c.parts["run"] && !c.parts["generate"] {
		return
	}
	for _, w := range c.words {
		dir := path.Join(base, w)
		listed, _ := c.place.List(dir)
		for _, name := range listed {
			if path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
				c.add(dir, name)
			}
		}
	}
}

// braces are what a shell makes several words of.
var braces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^{])\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}`)
})

// Computes reports whether a shell or an interpreter puts names together that a line gives it:
// these are not among the [Place.Files].
func Computes(words []string, shell bool) bool {
	if len(words) == 0 || !shell && !Runs(words[0]) {
		return false
	}
	text := strings.Join(words, " ")
	glued := strings.NewReplacer("{{context.root}}", "", "{{ context.root }}", "").Replace(text)
	return strings.ContainsAny(text, "$`*?[") || strings.Contains(text, "{%") ||
		braces().MatchString(text) ||
		strings.Contains(glued, "/{{") || strings.Contains(glued, "}}/") ||
		strings.Contains(glued, "}}.")
}
