package commandline

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// A Line is the meaning of a command line's words before the last one.
type Line struct {
	Dir string // of -C

	root  *kong.Node
	node  *kong.Node
	flags []*kong.Flag
	value *kong.Flag // the flag whose value comes last, nil for none
	given int        // arguments before the last word
}

// Values returns the possible values of a flag, by its name after "--", or of an argument, by its
// name. It reports false for one that it does not know.
type Values func(name string) ([]string, bool)

// Change returns the directory after a change from dir to another, with its parts as they were
// given.
func Change(dir, to string) string {
	switch {
	case dir == "" || filepath.IsAbs(to):
		return to
	case to == "":
		return dir
	}
	return dir + string(filepath.Separator) + to
}

// Below returns a path as seen from a directory: that of -C, or where a command runs. As for the
// system, ".." is above the directory that a link leads to.
func Below(dir, path string) string {
	path = Change(dir, path)
	parts := strings.Split(filepath.ToSlash(path), "/")
	for i, part := range slices.Backward(parts) {
		if part != ".." {
			continue
		}
		parent, err := filepath.EvalSymlinks(filepath.FromSlash(strings.Join(parts[:i+1], "/")))
		if err != nil {
			return path
		}
		return filepath.Join(parent, filepath.FromSlash(strings.Join(parts[i+1:], "/")))
	}
	return filepath.Clean(path)
}

// Typed returns the words after the name of the program, if they begin with it. Where git is the
// program its options come before the command: of these -C counts.
func Typed(words []string) []string {
	switch {
	case len(words) > 0 && words[0] == "git-jp":
		return words[1:]
	case len(words) == 0 || words[0] != "git":
		return words
	}
	dirs, i := []string{}, 1
	for ; i < len(words) && strings.HasPrefix(words[i], "-"); i++ {
		switch words[i] {
		case "-C":
			dirs = append(dirs, words[i:min(i+2, len(words))]...)
			i++
		case "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source":
			i++
		}
	}
	return append(dirs, words[min(i+1, len(words)):]...)
}

// Read walks the model of the command line along the words but the last.
func Read(root *kong.Node, words []string) Line {
	l := Line{root: root, node: root, flags: slices.Clone(root.Flags)}
	for _, word := range words[:len(words)-1] {
		switch child := childNamed(l.node, word); {
		case l.value != nil:
			if l.value.Name == "directory" {
				l.Dir = Change(l.Dir, word)
			}
			l.value = nil
		case strings.HasPrefix(word, "-"):
			l.value = l.takesValue(word)
		case child != nil:
			l.node = child
			l.flags = append(l.flags, child.Flags...)
		default:
			l.given++
		}
	}
	return l
}

// takesValue returns the flag of this spelling if its value is the next word.
func (l Line) takesValue(word string) *kong.Flag {
	for _, f := range l.flags {
		short := f.Short != 0 && word == "-"+string(f.Short)
		if (short || word == "--"+f.Name) && !f.IsBool() && !f.IsCounter() {
			return f
		}
	}
	return nil
}

// Candidates returns what can replace the last word, whatever is there of it already.
func (l Line) Candidates(last string, values Values) []string {
	if l.value != nil {
		if l.value.Enum != "" {
			return l.value.EnumSlice()
		}
		all, _ := values("--" + l.value.Name)
		return all
	}
	if begin, _, ok := strings.Cut(last, "="); ok && strings.HasPrefix(last, "--") {
		return l.joined(begin, values)
	}
	if strings.HasPrefix(last, "-") {
		return flagCandidates(l.flags)
	}
	if l.node.Name == "help" {
		return l.helpCandidates()
	}
	var out []string
	if l.given == 0 {
		out = visible(l.node)
	}
	return append(out, l.argumentCandidates(values)...)
}

// joined returns the values of a flag behind its name, as in --model=NAME.
func (l Line) joined(name string, values Values) (out []string) {
	if l.value = l.takesValue(name); l.value == nil {
		return nil
	}
	for _, value := range l.Candidates("", values) {
		out = append(out, name+"="+value)
	}
	return out
}

func flagCandidates(flags []*kong.Flag) (out []string) {
	for _, f := range flags {
		if !f.Hidden {
			out = append(out, "--"+f.Name)
		}
	}
	return out
}

// visible returns the names of the subcommands of a node.
func visible(node *kong.Node) (names []string) {
	for _, child := range node.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	return names
}

func childNamed(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name || slices.Contains(child.Aliases, name) {
			return child
		}
	}
	return nil
}

// helpCandidates completes the command that help is requested for. Its words were parsed as
// arguments, and only the first level is worth a list.
func (l Line) helpCandidates() []string {
	if l.given > 0 {
		return nil
	}
	return visible(l.root)
}

// argumentCandidates returns the possible values of the command's next argument.
func (l Line) argumentCandidates(values Values) []string {
	for i, p := range l.node.Positional {
		if i < l.given && !p.IsCumulative() {
			continue
		}
		if p.Enum != "" {
			return p.EnumSlice()
		}
		if all, ok := values(p.Name); ok {
			return all
		}
		if i == l.given {
			return nil
		}
	}
	all, _ := values(l.node.Name)
	return all
}
