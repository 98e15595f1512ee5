package check

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
)

// GitHub writes the report as workflow commands, which GitHub Actions shows as annotations at the
// lines of the files.
func (p Printer) GitHub(w io.Writer, r *Report) error {
	out := bufio.NewWriter(w)
	for _, f := range r.Findings {
		command := "error"
		switch f.Severity {
		case Warning:
			command = "warning"
		case None, Note:
			command = "notice"
		}
		var props []string
		if f.Path != "" {
			props = append(props, "file="+githubProperty(f.Path), fmt.Sprintf("line=%d", f.Line))
		}
		props = append(props, "title="+githubProperty("git jp: "+string(f.State)))
		fmt.Fprintf(out, "::%s %s::%s\n", command, strings.Join(props, ","),
			githubData(p.message(f)))
	}
	return out.Flush()
}

// githubData escapes the message of a workflow command.
func githubData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// githubProperty escapes a property of a workflow command. A line feed in a name is encoded and so
// preserved; characters that a terminal would obey are replaced by escapes.
func githubProperty(s string) string {
	lines := strings.SplitAfter(s, "\n")
	for i, line := range lines {
		text, end := strings.CutSuffix(line, "\n")
		if lines[i] = escape(text); end {
			lines[i] += "\n"
		}
	}
	return githubEncoded(strings.Join(lines, ""))
}

func githubEncoded(s string) string {
	return strings.NewReplacer(
		"%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C",
	).Replace(s)
}

// A gitlabIssue is an entry of GitLab's code quality report.
type gitlabIssue struct {
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
}

// GitLab writes the report as a code quality report. GitLab requires a path, so findings without
// one get the directory of the conversations.
func (p Printer) GitLab(w io.Writer, r *Report) error {
	issues := make([]gitlabIssue, 0, len(r.Findings))
	for _, f := range r.Findings {
		severity := map[Severity]string{Error: "critical", Warning: "minor"}[f.Severity]
		severity = cmp.Or(severity, "info")
		location := gitlabLocation{f.Path, gitlabLines{f.Line}}
		if f.Path == "" {
			location.Path = ".jp"
		}
		issues = append(issues, gitlabIssue{
			p.message(f), "git-jp/" + string(f.State), f.fingerprint(), severity, location,
		})
	}
	return writeJSON(w, issues, "  ")
}
