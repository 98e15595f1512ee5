package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-jp/git-jp/blobs"
)

// hostile is text that a terminal, a workflow command or JSON must not interpret.
const hostile = "Ti%tle: \x1b[31m,\n::error::\u202e\u009b\xff"

// sample returns a report with a finding of every kind.
func sample() *Report {
	const commit = "1f3c5d7e9a1f3c5d7e9a1f3c5d7e9a1f3c5d7e9a"
	r := &Report{Sources: 3, Conversations: 2, References: 40}
	at := Finding{
		Commit: commit, Path: firstE, Line: 42, Element: 12, Conversation: "jp-c17800836875",
		Title: hostile, Turn: 4, Call: "toolu_01A", Tool: "fs_read_file", Size: 12345,
	}
	for i := range 14 {
		f := at
		f.State, f.Hash = Missing, blobs.Sum([]byte{byte(i)})
		f.Detail, f.Next = "is not in the commit", AskAuthor("jp-c17800836875")
		f.Commits, f.References = 1+i%2, 1+i%3
		r.Add(f)
	}
	for i := range 3 {
		f := at
		f.State, f.Hash, f.Detail = Unchecked, blobs.Sum([]byte{99, byte(i)}), "is elsewhere"
		r.Add(f)
	}
	r.Add(Finding{
		State: Malformed, Commit: IndexName, Path: "sub,dir/é 100%:x\n.json", Line: 7, Element: -1,
		Detail: "cannot be loaded: " + hostile,
	})
	r.Add(Finding{
		State: Foreign, Commit: WorkTreeName, Path: ".jp/conversations/x", Element: -1,
		Detail: "is no conversation",
	})
	r.Add(Finding{State: Unchecked, Element: -1, Detail: "shallow", Next: "git fetch --unshallow"})
	return r
}

func printed(t *testing.T, f Format) string {
	t.Helper()
	var out bytes.Buffer
	if err := (Printer{Version: "1.2.3"}).Print(&out, f, sample()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestText(t *testing.T) {
	got := strings.ReplaceAll(printed(t, FormatText), blobs.Sum([]byte{0}).String()[:12], "HASH")
	start := `error: check 1f3c5d7e9a1f:` + firstE +
		` (Ti%tle: \u001b[31m,\u000a::error::\u202e\u009b\xff): 14 references without content
  turn 4, call toolu_01A (fs_read_file): sha256:HASH… (12 345 bytes) is not in the commit
`
	if !strings.HasPrefix(got, start) {
		t.Errorf("text begins\n%s\nwant\n%s", got[:min(len(got), len(start))], start)
	}
	end := `  and 4 more
hint: ask whoever wrote the conversation to run 'git jp stage jp-c17800836875' and to commit
note: check 1f3c5d7e9a1f:` + firstE +
		` (Ti%tle: \u001b[31m,\u000a::error::\u202e\u009b\xff): 3 references not checked
  turn 4, call toolu_01A (fs_read_file): sha256:` + blobs.Sum([]byte{99, 0}).String()[:12] +
		`… (12 345 bytes) is elsewhere
  and 2 more
error: check :sub,dir/é 100%:x\u000a.json: cannot be loaded: ` +
		`Ti%tle: \u001b[31m,\u000a::error::\u202e\u009b\xff
warning: check .jp/conversations/x: is no conversation
note: shallow
hint: git fetch --unshallow
checked 3 trees, 2 conversations, 40 references: 15 errors, 1 warning, 4 notes
`
	if !strings.HasSuffix(got, end) {
		t.Errorf("text ends\n%s\nwant\n%s", got[max(0, len(got)-len(end)):], end)
	}
}

// TestForgesObeyNothing checks that no format for forges has anything that its reader interprets.
func TestForgesObeyNothing(t *testing.T) {
	r := sample()
	r.Add(Finding{
		State: Malformed, Path: "a\x1b]0;x\a\u009b\u202e\n::error::b", Line: 1, Element: -1,
		Detail: "[click](https://evil.example) \x1b[2J\n::add-mask::x \u009b\u202e",
	})
	for _, f := range []Format{FormatGitHub, FormatGitLab, FormatSARIF} {
		var out bytes.Buffer
		if err := (Printer{}).Print(&out, f, r); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if i := strings.IndexFunc(got, func(r rune) bool { return r != '\n' && hidden(r) }); i >= 0 {
			t.Errorf("%s: %q", f, got[max(0, i-40):min(len(got), i+40)])
		}
		for line := range strings.Lines(got) {
			if strings.HasPrefix(line, "::") != (f == FormatGitHub) ||
				strings.HasPrefix(line, "::add-mask") || strings.HasPrefix(line, "::error::") {
				t.Errorf("%s: %q", f, line)
			}
		}
		if f == FormatSARIF && !strings.Contains(got, `\\[click\\](https://evil.example)`) {
			t.Error("a link is followed in SARIF")
		}
	}
}

func TestTextOfNothing(t *testing.T) {
	var out bytes.Buffer
	if err := (Printer{}).Text(&out, &Report{Sources: 1}); err != nil || out.Len() > 0 {
		t.Errorf("%q, %v; want silence", out.String(), err)
	}
}

// TestTextOfMany: of many findings the worst are written, each kind with one hint, and the others
// are counted.
func TestTextOfMany(t *testing.T) {
	var r Report
	for i := range 200 {
		f := Finding{
			State: Missing, Path: fmt.Sprintf("%03d/events.json", i), Hash: blobs.Sum([]byte{byte(i)}),
			Detail: "is not here", Next: fmt.Sprintf("git jp stage %d", i),
		}
		if i%2 == 0 {
			f = Finding{State: Foreign, Path: fmt.Sprintf("%03d/x", i), Detail: "is no conversation"}
		}
		r.Add(f)
	}
	r.Add(Finding{State: Malformed, Path: "last", Detail: "cannot be loaded"})
	var out bytes.Buffer
	p := Printer{More: "'-v' shows them"}
	if err := p.Findings(&out, r.Findings); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	if n := strings.Count(got, "error: "); n != maxGroups {
		t.Errorf("%d errors are written, want %d", n, maxGroups)
	}
	if n := strings.Count(got, "hint: "); n != 1 {
		t.Errorf("%d hints are written, want 1", n)
	}
	const end = "and 191 more: 90 missing, 1 malformed, 100 foreign; '-v' shows them\n"
	if !strings.HasSuffix(got, end) {
		t.Errorf("it ends %q, want %q", got[max(0, len(got)-len(end)):], end)
	}
	p.Verbose = true
	out.Reset()
	if err := p.Findings(&out, r.Findings); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "check "); n != len(r.Findings) {
		t.Errorf("%d findings are written of %d", n, len(r.Findings))
	}
}

// TestNoFormatLetsControlsThrough: whatever a title has, the output is lines of printable text.
func TestNoFormatLetsControlsThrough(t *testing.T) {
	for _, f := range []Format{FormatText, FormatJSON, FormatSARIF, FormatGitHub, FormatGitLab} {
		for i, line := range strings.Split(printed(t, f), "\n") {
			if at := strings.IndexFunc(line, func(r rune) bool {
				return hidden(r) && r != '\ufffd'
			}); at >= 0 {
				t.Errorf("%s: line %d has a control character: %q", f, i+1, line[at:])
			}
		}
	}
}

func TestGitHub(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(printed(t, FormatGitHub)), "\n")
	command := regexp.MustCompile(
		`^::(error|warning|notice) (file=[^:,]+,line=\d+,)?title=[^:,]+::[^\r\n]+$`)
	for _, line := range lines {
		if !command.MatchString(line) {
			t.Errorf("no workflow command: %s", line)
		}
	}
	want := `::error file=sub%2Cdir/é 100%25%3Ax%0A.json,line=7,title=git jp%3A malformed::` +
		`cannot be loaded: Ti%25tle: \u001b[31m,\u000a::error::\u202e\u009b\xff`
	if !slices.Contains(lines, want) {
		t.Errorf("no line\n%s\nin\n%s", want, strings.Join(lines, "\n"))
	}
}

func TestGitLab(t *testing.T) {
	var issues []map[string]any
	if err := json.Unmarshal([]byte(printed(t, FormatGitLab)), &issues); err != nil {
		t.Fatal(err)
	}
	seen := make(map[any]bool)
	for _, issue := range issues {
		location := issue["location"].(map[string]any)
		if issue["description"] == "" || location["path"] == "" ||
			location["lines"].(map[string]any)["begin"].(float64) < 1 {
			t.Errorf("incomplete: %v", issue)
		}
		if !slices.Contains([]any{"info", "minor", "critical"}, issue["severity"]) {
			t.Errorf("severity %v", issue["severity"])
		}
		if seen[issue["fingerprint"]] {
			t.Errorf("fingerprint %v occurs twice", issue["fingerprint"])
		}
		seen[issue["fingerprint"]] = true
	}
	if len(issues) != len(sample().Findings) {
		t.Errorf("%d issues", len(issues))
	}
}

func TestSARIF(t *testing.T) {
	var log sarifLog
	dec := json.NewDecoder(strings.NewReader(printed(t, FormatSARIF)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	driver := run.Tool.Driver
	if log.Version != "2.1.0" || driver.Name != "git-jp" || driver.Version != "1.2.3" {
		t.Errorf("%+v", driver)
	}
	for i, res := range run.Results {
		f := sample().Findings[i]
		if run.Tool.Driver.Rules[res.RuleIndex].ID != res.RuleID || res.RuleID != string(f.State) {
			t.Errorf("result %d: rule %q, index %d", i, res.RuleID, res.RuleIndex)
		}
		if !slices.Contains([]string{"none", "note", "warning", "error"}, res.Level) {
			t.Errorf("result %d: level %q", i, res.Level)
		}
		if res.Message.Text == "" || len(res.Locations) != min(len(f.Path), 1) {
			t.Errorf("result %d: %+v", i, res)
		}
	}
	const uri = "sub,dir/%C3%A9%20100%25:x%0A.json"
	if got := run.Results[17].Locations[0].Physical.Artifact.URI; got != uri {
		t.Errorf("uri %q", got)
	}
}

// TestJSONFollowsItsSchema compares the output with docs/check.schema.json: it has the required
// members and no unlisted ones, each with its type, enumeration and pattern.
func TestJSONFollowsItsSchema(t *testing.T) {
	data, err := os.ReadFile("../../docs/check.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs map[string]definition `json:"$defs"`
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(printed(t, FormatJSON)), "\n")
	for i, line := range lines {
		var obj map[string]any
		if err := json.Unmarshal([]byte(line), &obj); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		kind := "finding"
		if i == len(lines)-1 {
			kind = "summary"
		}
		if obj["type"] != kind {
			t.Errorf("line %d is a %v, want a %s", i+1, obj["type"], kind)
		}
		for _, fault := range schema.Defs[kind].faults(obj) {
			t.Errorf("line %d: %s: %s", i+1, fault, line)
		}
	}
	var all []any
	for _, s := range states() {
		all = append(all, string(s.State))
	}
	if d := cmp.Diff(all, schema.Defs["finding"].Properties["state"].Enum); d != "" {
		t.Errorf("states in the schema (-code +schema):\n%s", d)
	}
	if len(schema.Defs["summary"].faults(map[string]any{"type": "x", "more": 1})) < 3 {
		t.Error("the checker of this test finds no faults")
	}
}

type definition struct {
	Required   []string
	Properties map[string]property
}

type property struct {
	Type    string
	Const   any
	Enum    []any
	Pattern string
	Minimum *float64
}

func (d definition) faults(obj map[string]any) []string {
	var faults []string
	for _, name := range d.Required {
		if _, ok := obj[name]; !ok {
			faults = append(faults, "no member "+name)
		}
	}
	for name, v := range obj {
		p, ok := d.Properties[name]
		if !ok {
			faults = append(faults, "unknown member "+name)
			continue
		}
		if why := p.fault(v); why != "" {
			faults = append(faults, fmt.Sprintf("member %s: %s: %v", name, why, v))
		}
	}
	return faults
}

func (p property) fault(v any) string {
	number, isNumber := v.(float64)
	text, isText := v.(string)
	_, isBool := v.(bool)
	switch {
	case p.Type == "string" && !isText, p.Type == "boolean" && !isBool,
		p.Type == "integer" && (!isNumber || number != float64(int64(number))):
		return "not of type " + p.Type
	case p.Const != nil && !reflect.DeepEqual(p.Const, v):
		return "not the constant"
	case p.Enum != nil && !slices.Contains(p.Enum, v):
		return "not in the enumeration"
	case p.Pattern != "" && !regexp.MustCompile(p.Pattern).MatchString(text):
		return "not of the pattern"
	case p.Minimum != nil && number < *p.Minimum:
		return "less than the minimum"
	}
	return ""
}

func TestUnknownFormat(t *testing.T) {
	if err := (Printer{}).Print(&bytes.Buffer{}, "yaml", sample()); err == nil {
		t.Error("no error")
	}
}
