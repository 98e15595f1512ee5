package check

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-jp/git-jp/internal/workspace"
)

// A Format is a way to write a report.
type Format string

// The formats.
const (
	FormatText   Format = "text"   // for people
	FormatJSON   Format = "json"   // one object a line, docs/check.schema.json
	FormatSARIF  Format = "sarif"  // SARIF 2.1.0
	FormatGitHub Format = "github" // workflow commands, which GitHub shows at the lines
	FormatGitLab Format = "gitlab" // a code quality report
)

// A Printer writes reports.
type Printer struct {
	// Version is the version of the program.
	Version string
	// Verbose makes the text format write all findings of a group, and full hashes.
	Verbose bool
	// More is the hint in the text format for showing the findings that are only counted.
	More string
}

// Print writes the report in a format.
func (p Printer) Print(w io.Writer, f Format, r *Report) error {
	switch f {
	case FormatText:
		return p.Text(w, r)
	case FormatJSON:
		return p.JSON(w, r)
	case FormatSARIF:
		return p.SARIF(w, r)
	case FormatGitHub:
		return p.GitHub(w, r)
	case FormatGitLab:
		return p.GitLab(w, r)
	default:
		return fmt.Errorf("print report: unknown format %q", f)
	}
}

// escape replaces characters that control a terminal or are invisible by Go escapes.
func escape(s string) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case hidden(r) && r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
		s = s[size:]
	}
	return b.String()
}

// hidden reports whether r is a control character, including those that change the direction of
// text, or the replacement character for bytes that are not text.
func hidden(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) ||
		unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}

// place describes where in its file a finding is: "turn 4, call toolu_01A (fs_read_file)".
func (p Printer) place(f Finding) string {
	var parts []string
	if f.Turn > 0 {
		parts = append(parts, fmt.Sprintf("turn %d", f.Turn))
	}
	if f.Call != "" {
		parts = append(parts, "call "+escape(f.Call))
	}
	s := strings.Join(parts, ", ")
	if f.Tool != "" {
		s += " (" + escape(f.Tool) + ")"
	}
	return strings.TrimSpace(s)
}

// Sentence describes a finding, except for its file.
func (p Printer) Sentence(f Finding) string {
	var b strings.Builder
	if place := p.place(f); place != "" {
		b.WriteString(place + ": ")
	}
	if !f.Hash.IsZero() {
		fmt.Fprintf(&b, "sha256:%s (%s) ", p.hash(f), bytesText(f.Size))
	}
	b.WriteString(escape(f.Detail))
	if f.References > 1 {
		fmt.Fprintf(&b, ", referred to %d times", f.References)
	}
	if f.Commits > 1 {
		fmt.Fprintf(&b, ", in %d commits", f.Commits)
	}
	return b.String()
}

// About describes a finding beside the name of its conversation, which does not say that it is
// about another file than the stream.
func (p Printer) About(f Finding) string {
	name := path.Base(f.Path)
	if f.Conversation == "" || name == workspace.EventsFile ||
		!slices.Contains(workspace.Files(), name) {
		return p.Sentence(f)
	}
	return name + " " + p.Sentence(f)
}

func (p Printer) hash(f Finding) string {
	if p.Verbose {
		return f.Hash.String()
	}
	return f.Hash.String()[:12] + "…"
}

// message describes a finding in one paragraph, for formats that show it beside its file.
func (p Printer) message(f Finding) string {
	p.Verbose = true
	s := p.Sentence(f)
	if f.Title != "" {
		s = escape(f.Title) + ": " + s
	}
	if f.Next != "" {
		s += "; next: " + escape(f.Next)
	}
	return s
}
