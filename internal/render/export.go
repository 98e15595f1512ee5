package render

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/edits"
	"github.com/git-jp/git-jp/internal/lists"
)

// A markdownFormatter writes one Markdown document. Messages are copied verbatim; everything else
// is fenced so that no result can end its own fence.
type markdownFormatter struct {
	w    io.Writer
	conv Conversation
	opts Options
}

func (f *markdownFormatter) print(text string) error {
	_, err := io.WriteString(f.w, f.opts.Output.Text(text))
	return err
}

// begin writes front matter: a JSON string is a YAML string as well. A conversation without an id
// is part of another document, which has its own beginning.
func (f *markdownFormatter) begin(turns int) error {
	if f.conv.ID == 0 {
		return nil
	}
	title := f.conv.Title
	if title == "" {
		title = f.conv.ID.String()
	}
	quoted, err := json.Marshal(title)
	if err != nil {
		return fmt.Errorf("encode title: %w", err)
	}
	head := fmt.Sprintf("---\ntitle: %s\nid: %s\ncreated: %s\nturns: %d\n",
		quoted, f.conv.ID, f.conv.created().Format(time.RFC3339), turns)
	if f.conv.Agent != "" {
		head += "agent: " + f.conv.Agent + "\n"
	}
	return f.print(head + "---\n\n# " + EscapeInline(title) + "\n")
}

func (f *markdownFormatter) end() error { return nil }

func (f *markdownFormatter) turn(t turn) error {
	var notes []string
	if !t.at.IsZero() {
		notes = append(notes, t.at.UTC().Format("2006-01-02 15:04 UTC"))
	}
	if t.model != "" {
		notes = append(notes, EscapeInline(t.model))
	}
	if t.parallel != nil {
		notes = append(notes, "parallel to "+t.parallel.String()+
			": asked and answered without knowledge of what stands there")
	}
	head := "\n## " + strings.ToUpper(t.label()[:1]) + t.label()[1:] + "\n"
	if len(notes) > 0 {
		head += "\n*" + strings.Join(notes, ", ") + "*\n"
	}
	return f.print(head)
}

func (f *markdownFormatter) item(it item) error {
	switch ev := it.el.Event().(type) {
	case *events.TurnStart:
		return nil
	case *events.ChatRequest:
		return f.request(it, ev)
	case *events.ChatResponse:
		if ev.Text != "" || ev.Form != events.FormMessage || len(it.extra) == 0 {
			if err := f.response(ev); err != nil {
				return err
			}
		}
		return f.extras(it.extra)
	case *events.ToolCallRequest:
		if err := f.extras(it.extra); err != nil {
			return err
		}
		body := callMarkdown(ev)
		if started := startedBy(it.el); started != "" {
			body += "\n\n*" + EscapeInline(started) + "*"
		}
		return f.section("Call of "+codeSpan(ev.Name), body)
	case *events.ToolCallResponse:
		return f.result(it, ev)
	case *events.InquiryRequest:
		return f.section("Question", QuestionText(ev.Question))
	case *events.InquiryResponse:
		return f.section("Answer", fenced(compactJSON(ev.Answer), "json"))
	case *events.ConfigDelta:
		return f.print("\n*Configuration: " + codeSpan(ConfigLine(ev.Delta)) + "*\n")
	case *events.Compaction:
		return f.compaction(ev)
	default:
		return f.print("\n*Unknown event: " + codeSpan(unknownLine(it)) + "*\n")
	}
}

// callMarkdown returns the content of a call: its arguments, and its changes as diffs.
func callMarkdown(ev *events.ToolCallRequest) string {
	changes, args := edits.Parse(ev.Arguments).EditsBeside()
	if len(changes) == 0 {
		return fenced(indentedJSON(ev.Arguments), "json")
	}
	var all []string
	if args != nil {
		all = append(all, fenced(indentedJSON(args), "json"))
	}
	file := ""
	for _, e := range changes {
		if e.File != "" && e.File != file {
			file = e.File
			all = append(all, codeSpan(file))
		}
		all = append(all, fenced(e.Diff(), "diff"))
	}
	return strings.Join(all, "\n\n")
}

// section writes a label in bold and the body that belongs to it.
func (f *markdownFormatter) section(label, body string) error {
	text := "\n**" + label + "**\n"
	if body = strings.Trim(body, "\n"); body != "" {
		text += "\n" + body + "\n"
	}
	return f.print(text)
}

func (f *markdownFormatter) request(it item, ev *events.ChatRequest) error {
	name := cmp.Or(ev.Author, "User")
	if _, injected := it.el.Metadata().Value(events.MetadataInjected); injected {
		return f.section("Agent, in the user's name", quotedMarkdown(closed(ev.Content)))
	}
	if err := f.section(EscapeInline(name), closed(ev.Content)); err != nil {
		return err
	}
	for _, p := range it.parts {
		if err := f.section("Attached", p.markdown()); err != nil {
			return err
		}
	}
	return nil
}

func (f *markdownFormatter) response(ev *events.ChatResponse) error {
	switch {
	case ev.Form == events.FormData:
		return f.section("Assistant", fenced(indentedJSON(ev.Data), "json"))
	case ev.Form == events.FormMessage:
		return f.section("Assistant", closed(ev.Text))
	case ev.Text == "":
		return nil
	default:
		return f.section("Reasoning", quotedMarkdown(closed(ev.Text)))
	}
}

// extras writes what the provider did or cited beside a reply.
func (f *markdownFormatter) extras(extras []extra) error {
	if len(extras) == 0 {
		return nil
	}
	text := "\n"
	for _, x := range extras {
		text += "- *" + x.label + ":* " + EscapeInline(x.text) + "\n"
	}
	return f.print(text)
}

func (f *markdownFormatter) result(it item, ev *events.ToolCallResponse) error {
	label := "Result"
	if ev.IsError {
		label = "Error"
	}
	if it.tool != "" {
		label += " of " + codeSpan(it.tool)
	}
	var body []string
	body = append(body, lists.Map(it.parts, part.markdown)...)
	return f.section(label, strings.Join(body, "\n\n"))
}

// markdown returns the visible form of a content.
func (p part) markdown() string {
	var body []string
	if p.uri != "" || p.state == partBinary || p.state == partClosed {
		body = append(body, p.markdownLabel())
	}
	switch p.state {
	case partText:
		body = append(body, fenced(p.text, p.language()))
	case partRaw:
		body = append(body, fenced(p.readable(), ""))
	case partBroken:
		body = append(body, codeSpan(p.placeholder()))
	case partBinary:
		if p.isImage() {
			body = append(body, p.image())
		}
	}
	return strings.Join(body, "\n\n")
}

// image returns an image with its bytes: an export refers to no other file.
func (p part) image() string {
	name := "image"
	if p.uri != "" {
		name = path.Base(p.uri)
	}
	return "![" + EscapeInline(name) + "](data:" + p.mime + ";base64," +
		base64.StdEncoding.EncodeToString(p.data) + ")"
}

func (f *markdownFormatter) compaction(ev *events.Compaction) error {
	body := ""
	if ev.Summary != nil {
		body = quotedMarkdown(closed(*ev.Summary))
	}
	return f.section("Compaction: "+CompactionLine(ev), body)
}

func (p part) markdownLabel() string {
	if p.uri == "" {
		return EscapeInline(p.label())
	}
	return codeSpan(p.uri) + EscapeInline(strings.TrimPrefix(p.label(), p.uri))
}

// language returns the language for highlighting a file's text, by the extension of its name.
func (p part) language() string {
	if p.formatted {
		return ""
	}
	name, _, _ := strings.Cut(p.uri, "#")
	ext := strings.TrimPrefix(path.Ext(name), ".")
	for _, c := range []byte(ext) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return ""
		}
	}
	return ext
}

// closed ends the code block that a text leaves open, as an answer that was cut off does: otherwise
// the following text would be code.
func closed(text string) string {
	open := ""
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(line, " ")
		run := rest[:len(rest)-len(strings.TrimLeft(rest, "`"))]
		if run == "" {
			run = rest[:len(rest)-len(strings.TrimLeft(rest, "~"))]
		}
		info := strings.TrimSpace(rest[len(run):])
		switch {
		case len(run) < 3 || len(line)-len(rest) > 3:
		case open == "":
			if run[0] == '~' || !strings.Contains(info, "`") {
				open = run
			}
		case info == "" && run[0] == open[0] && len(run) >= len(open):
			open = ""
		}
	}
	if open == "" {
		return text
	}
	return strings.TrimSuffix(text, "\n") + "\n" + open
}

// fenced returns text as a code block that it cannot end.
func fenced(text, language string) string {
	fence := strings.Repeat("`", max(longestRun(text), 2)+1)
	return fence + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}

// codeSpan returns s as a code span that it cannot end.
func codeSpan(s string) string {
	s = oneLine(s)
	mark := strings.Repeat("`", longestRun(s)+1)
	if s == "" || s[0] == '`' || s[len(s)-1] == '`' {
		s = " " + s + " "
	}
	return mark + s + mark
}

// EscapeInline makes s plain text in a line of Markdown.
func EscapeInline(s string) string {
	var b strings.Builder
	for _, r := range oneLine(s) {
		if strings.ContainsRune("\\`*_[]<>&|~#", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func quotedMarkdown(s string) string {
	lines := splitLines(s)
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+line, " ")
	}
	return strings.Join(lines, "\n")
}

// longestRun returns the length of the longest run of backticks.
func longestRun(text string) (longest int) {
	run := 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
