package jpconfig

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/tool/command"
	"github.com/git-jp/git-jp/internal/trust"
)

// Limits of the files that a command runs.
const (
	maxRun     = 64 << 20 // bytes of a file that claims cover
	maxRecipes = 1 << 20  // bytes of a file that is searched for includes
	maxRuns    = 256      // files of a command
)

// unreadable replaces the hash of a file that cannot be read completely. No file has this hash.
const unreadable = "unreadable"

// A recipe is a file that a command runs, as read.
type recipe struct {
	sum      string // "" if it does not exist
	includes []string
}

// filesOf returns the files of the workspace that a command line runs, and those that they include,
// with their hashes. Missing files are left out: when one is created, the claim changes.
func (c *Config) filesOf(words []string, shell bool) map[string]string {
	if c.workspace == "" {
		return nil
	}
	if shell || len(words) > 0 && command.Runs(words[0]) {
		// Each part of a script may be a file, or begin a command.
		parts := strings.FieldsFunc(strings.Join(words, " "), isBetween)
		words = slices.Concat([]string{"env"}, words, parts)
	}
	type named struct {
		name   string
		syntax command.Syntax
	}
	var queue []named
	seen := map[string]bool{}
	add := func(name string, syntax command.Syntax) {
		if filepath.IsLocal(name) && !seen[name] {
			seen[name], queue = true, append(queue, named{name, syntax})
		}
	}
	for _, name := range command.Files(words) {
		add(name, command.SyntaxOf(name))
	}
	files := map[string]string{}
	for i := 0; i < len(queue); i++ {
		if len(files) == maxRuns || i == maxRuns*maxRuns {
			files["…"] = unreadable // the other files are not covered by the claim
			break
		}
		r := c.recipe(queue[i].name, queue[i].syntax)
		if r.sum == "" {
			continue
		}
		files[queue[i].name] = r.sum
		for _, name := range r.includes {
			add(name, queue[i].syntax)
		}
	}
	return files
}

// isBetween reports whether a character is between the words of a script.
func isBetween(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("'\"`;&|()<>$", r) }

// recipe reads a file, once.
func (c *Config) recipe(name string, syntax command.Syntax) recipe {
	if r, ok := c.recipes[name]; ok {
		return r
	}
	if c.recipes == nil {
		c.recipes = map[string]recipe{}
	}
	r := readRecipe(c.workspace, name, syntax)
	c.recipes[name] = r
	return r
}

// readRecipe reads a file below dir. One that cannot be read completely, or that is outside the
// workspace, has a hash that no file has.
func readRecipe(dir, name string, syntax command.Syntax) recipe {
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return recipe{}
	}
	defer func() { _ = root.Close() }() // opened for reading
	f, err := regular.OpenIn(root, name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, regular.ErrNot):
		return recipe{}
	case err != nil:
		return recipe{sum: unreadable}
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	var text bytes.Buffer
	n, err := io.Copy(io.MultiWriter(h, &text), io.LimitReader(f, maxRecipes))
	if err == nil && n == maxRecipes {
		text.Reset()
		var more int64
		more, err = io.Copy(h, io.LimitReader(f, maxRun+1))
		n += more
	}
	if err != nil || n > maxRun {
		return recipe{sum: unreadable}
	}
	return recipe{hex.EncodeToString(h.Sum(nil)), syntax.Includes(name, text.Bytes())}
}

// bindFiles returns the value of a command's claim, with the hashes of the workspace's files that
// it runs: its program, and, if that runs its arguments, the files that they name.
func (c *Config) bindFiles(value []byte, words []string, shell bool) []byte {
	if len(words) > 0 && !shell && !command.Runs(words[0]) {
		words = words[:1]
	}
	files := c.filesOf(words, shell)
	if len(files) == 0 {
		return value
	}
	return marshal(map[string]json.RawMessage{"command": value, "files": marshal(files)})
}

// process guards a command in a setting.
func (c *Config) process(raw, line []byte, path ...string) Process {
	if c.has(path...) {
		return Process{trust.Own(Command(raw))}
	}
	words, shell := wordsOf(line)
	claim := c.claim(trust.Process, c.bindFiles(raw, words, shell), path...)
	return Process{trust.Foreign(Command(raw), claim)}
}

// server guards the process of an MCP server, with the hashes of the workspace's files that it
// runs.
func (c *Config) server(raw []byte, path []string) Process {
	if c.has(path...) {
		return Process{trust.Own(Command(raw))}
	}
	var line struct {
		Command   string   `json:"command"`
		Arguments []string `json:"arguments"`
	}
	var table map[string]json.RawMessage
	value := raw
	_ = json.Unmarshal(raw, &line) // another type runs no file
	files := c.filesOf(append([]string{line.Command}, line.Arguments...), false)
	if len(files) > 0 && json.Unmarshal(raw, &table) == nil {
		table["files"] = marshal(files)
		value = marshal(table)
	}
	return Process{trust.Foreign(Command(raw), c.claim(trust.Process, value, path...))}
}
