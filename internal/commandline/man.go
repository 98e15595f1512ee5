package commandline

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// WriteMan writes the man page of a version, with the commands by these groups.
func WriteMan(w io.Writer, model *kong.Application, groups []kong.Group, version string) error {
	out := bufio.NewWriter(w)
	manPage{out}.write(model, groups, version)
	return out.Flush()
}

type manPage struct{ io.Writer }

func (m manPage) write(model *kong.Application, groups []kong.Group, version string) {
	fmt.Fprintf(m, ".TH GIT\\-JP 1 \"\" \"git\\-jp %s\" \"Git Manual\"\n", troff(version))
	m.section("NAME")
	fmt.Fprintln(m, `git\-jp \- keep conversations with language models in Git`)
	m.section("SYNOPSIS")
	fmt.Fprintln(m, `.B git jp`)
	fmt.Fprintln(m, `[\-C DIR] [\-q|\-v] [\-\-json] [\-\-no\-color] [\-c KEY=VALUE]`)
	fmt.Fprintln(m, `<command> [<args>]`)
	m.section("DESCRIPTION")
	m.paragraphs(manDescription)
	m.section("GLOBAL OPTIONS")
	m.flags(model.Flags)
	for _, group := range groups {
		m.section(strings.ToUpper(group.Title))
		for _, node := range model.Children {
			if !node.Hidden && node.Group != nil && node.Group.Key == group.Key {
				m.command(node, "git jp")
			}
		}
	}
	for _, s := range manSections {
		m.section(s.title)
		m.paragraphs(s.text)
	}
}

func (m manPage) section(title string) {
	fmt.Fprintf(m, ".SH %s\n", troff(title))
}

// command describes one command and, below it, its subcommands.
func (m manPage) command(node *kong.Node, prefix string) {
	name := prefix + " " + node.Name
	synopsis := name
	for _, p := range node.Positional {
		synopsis += " " + p.Summary()
	}
	fmt.Fprintf(m, ".SS \"%s\"\n", troff(synopsis))
	m.paragraphs(node.Help)
	if len(node.Aliases) > 0 {
		m.paragraphs("Also called " + strings.Join(node.Aliases, ", ") + ".")
	}
	m.paragraphs(node.Detail)
	m.flags(node.Flags)
	for _, child := range node.Children {
		if !child.Hidden {
			m.command(child, name)
		}
	}
}

func (m manPage) flags(flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		fmt.Fprintf(m, ".TP\n\\fB%s\\fR\n%s\n", troff(flagSummary(f)), troff(f.Help))
	}
}

// flagSummary returns a flag in the form `-C, --directory=DIR`.
func flagSummary(f *kong.Flag) string {
	s := f.String()
	if strings.Contains(s, ", ") || f.Short == 0 {
		return s
	}
	return fmt.Sprintf("-%c, %s", f.Short, s)
}

// paragraphs prints text whose paragraphs are separated by blank lines. Indented lines are examples
// and keep their form.
func (m manPage) paragraphs(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	for par := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(par, "    ") || strings.HasPrefix(par, "\t") {
			fmt.Fprintf(m, ".PP\n.nf\n%s\n.fi\n", troff(par))
			continue
		}
		fmt.Fprintf(m, ".PP\n%s\n", troff(par))
	}
}

// troff escapes text that troff would interpret: backslashes, hyphens that must stay hyphens, and
// lines that begin with a control character.
func troff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
