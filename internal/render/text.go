package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/edits"
	"github.com/git-jp/git-jp/internal/lists"
)

// A textFormatter writes for people. On a terminal it renders Markdown and cuts long text;
// elsewhere it writes texts unchanged.
type textFormatter struct {
	w       io.Writer
	conv    Conversation
	opts    Options
	written bool // something has been written, so a blank line comes before the next
}

// The most of a result that is shown on a terminal without --full.
const (
	shownLines   = 12
	shownColumns = 400 // if the terminal's width is not known
)

func (f *textFormatter) begin(int) error { return nil }

func (f *textFormatter) end() error { return nil }

// cut reports whether long text is shortened.
func (f *textFormatter) cut() bool { return f.opts.Output.Terminal && !f.opts.Full }

// print writes one block, which ends without a line feed, after a blank line.
func (f *textFormatter) print(block string) error {
	block = strings.TrimRight(block, "\n") + "\n"
	if f.written {
		block = "\n" + block
	}
	f.written = true
	_, err := io.WriteString(f.w, block)
	return err
}

func (f *textFormatter) turn(t turn) error {
	o := f.opts.Output
	notes := []string{}
	if !t.at.IsZero() {
		notes = append(notes, f.opts.when(t))
	}
	for _, note := range []string{t.author, t.agent, t.model} {
		if note != "" {
			notes = append(notes, o.Line(note))
		}
	}
	if p := t.parallel; p != nil && !f.opts.Unnumbered {
		notes = append(notes, "parallel to "+p.String())
	}
	if f.opts.Unnumbered && len(notes) > 0 {
		return f.print(o.styled(styleHeading, "== "+strings.Join(notes, ", ")))
	}
	line := o.styled(styleHeading, "== "+t.label())
	if len(notes) > 0 {
		line += o.styled(styleMark, ", "+strings.Join(notes, ", "))
	}
	return f.print(line)
}

// label says which turns a heading covers.
func (t turn) label() string {
	switch {
	case t.summary && t.from != t.to:
		return fmt.Sprintf("turns %d–%d, summary", t.from, t.to)
	case t.summary:
		return fmt.Sprintf("turn %d, summary", t.from)
	default:
		return fmt.Sprintf("turn %d", t.from)
	}
}

// when returns the time of a turn for people.
func (o Options) when(t turn) string {
	at := t.at
	if o.Zone != nil {
		at = at.In(o.Zone)
	}
	text := at.Format("2006-01-02 15:04 MST")
	if !o.Now.IsZero() {
		text = Ago(o.Now, t.at) + ", " + text
	}
	return text
}

func (f *textFormatter) item(it item) error {
	if err := f.element(it); err != nil {
		return err
	}
	for _, key := range f.opts.Metadata {
		if v, ok := it.el.Metadata().Value(key); ok {
			if err := f.note(key+": ", styleMark, compactJSON(v)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *textFormatter) element(it item) error {
	switch ev := it.el.Event().(type) {
	case *events.TurnStart:
		return nil
	case *events.ChatRequest:
		return f.request(it, ev)
	case *events.ChatResponse:
		return f.response(ev, it.extra)
	case *events.ToolCallRequest:
		if err := f.extras(it.extra); err != nil {
			return err
		}
		return f.call(it, ev)
	case *events.ToolCallResponse:
		return f.result(it, ev)
	case *events.InquiryRequest:
		return f.note("? ", styleTool, QuestionText(ev.Question))
	case *events.InquiryResponse:
		return f.note("answer: ", styleTool, compactJSON(ev.Answer))
	case *events.ConfigDelta:
		return f.note("config: ", styleMark, ConfigLine(ev.Delta))
	case *events.Compaction:
		return f.compaction(ev)
	default:
		if it.el.Kind() == events.KindAgentRecord {
			return f.records(it)
		}
		return f.note("unknown event: ", styleWarn, unknownLine(it))
	}
}

// records writes an agent's records, a line each.
func (f *textFormatter) records(it item) error {
	head := f.opts.Output.styled(styleMark, "records:")
	for _, p := range it.parts {
		if p.state != partText {
			return f.print(head + " " + p.placeholder())
		}
		head += "\n" + f.body(it, strings.TrimSuffix(p.text, "\n"))
	}
	return f.print(head)
}

func (f *textFormatter) request(it item, ev *events.ChatRequest) error {
	name := cmp.Or(ev.Author, "user")
	if _, injected := it.el.Metadata().Value(events.MetadataInjected); injected {
		head := f.opts.Output.styled(styleMark, "agent, in the user's name:")
		return f.print(head + "\n" + f.quoted(f.body(it, ev.Content)))
	}
	head := f.opts.Output.styled(styleUser, oneLine(name)+":")
	if err := f.print(head + "\n" + f.markdown(ev.Content)); err != nil || len(it.parts) == 0 {
		return err
	}
	lines := make([]string, len(it.parts))
	for i, p := range it.parts {
		lines[i] = f.line("attached: ", styleTool, p.label())
		switch p.state {
		case partText:
			lines[i] += "\n" + f.body(it, p.text)
		case partBroken:
			lines[i] += "\n" + f.opts.Output.styled(styleError, p.placeholder())
		}
	}
	return f.print(strings.Join(lines, "\n"))
}

// extras writes what the provider did or cited beside a reply.
func (f *textFormatter) extras(extras []extra) error {
	if len(extras) == 0 {
		return nil
	}
	lines := lists.Map(extras, func(x extra) string {
		return f.line(x.label+": ", styleMark, x.text)
	})
	return f.print(strings.Join(lines, "\n"))
}

func (f *textFormatter) response(ev *events.ChatResponse, beside []extra) error {
	if ev.Text == "" && ev.Form == events.FormMessage && len(beside) > 0 {
		return f.extras(beside)
	}
	if err := f.reply(ev); err != nil {
		return err
	}
	return f.extras(beside)
}

func (f *textFormatter) reply(ev *events.ChatResponse) error {
	o := f.opts.Output
	switch ev.Form {
	case events.FormReasoning:
		if ev.Text == "" { // redacted: there is nothing to read
			return nil
		}
		return f.print(o.styled(styleMark, "reasoning:") + "\n" + f.quoted(f.markdown(ev.Text)))
	case events.FormData:
		return f.print(o.styled(styleModel, "assistant:") + "\n" + o.Text(indentedJSON(ev.Data)))
	default:
		return f.print(o.styled(styleModel, "assistant:") + "\n" + f.markdown(ev.Text))
	}
}

// call writes a call, and the conversation that it started. Changes to files are shown as a diff,
// after the other arguments.
func (f *textFormatter) call(it item, ev *events.ToolCallRequest) error {
	head := f.opts.Output.styled(styleTool, "→ "+oneLine(ev.Name))
	text := head
	if f.opts.Style == StyleFull {
		all, args := edits.Parse(ev.Arguments).EditsBeside()
		if len(all) == 0 {
			args = ev.Arguments
		}
		if args != nil {
			text += f.clip(" "+compactJSON(args), ansi.StringWidth(head))
		}
		text += f.edits(it, all)
	}
	if started := startedBy(it.el); started != "" {
		text += "\n" + f.opts.Output.styled(styleMark, started)
	}
	return f.print(text)
}

// edits writes the changes of a call: each file with its diff.
func (f *textFormatter) edits(it item, all []edits.Edit) string {
	var b strings.Builder
	file := ""
	for _, e := range all {
		if e.File != "" && e.File != file {
			file = e.File
			b.WriteString("\n" + f.line("", styleHeading, file))
		}
		b.WriteString("\n" + f.styledBody(it, e.Diff(), patchStyle))
	}
	return b.String()
}

func (f *textFormatter) result(it item, ev *events.ToolCallResponse) error {
	o := f.opts.Output
	st, verdict := styleTool, ""
	if ev.IsError {
		st, verdict = styleError, " failed"
	}
	name := cmp.Or(it.tool, ev.ID)
	block := o.styled(st, "← "+oneLine(name)+verdict)
	if f.opts.Style != StyleFull {
		return f.print(block + o.styled(styleMark, sizes(it.parts)))
	}
	for _, p := range it.parts {
		block += "\n" + f.part(it, p)
	}
	return f.print(block)
}

// sizes says how large the parts of a result are.
func sizes(parts []part) string {
	var sum int64
	for _, p := range parts {
		sum += p.ref.Size
	}
	return " (" + Bytes(sum) + ")"
}

func (f *textFormatter) part(it item, p part) string {
	o := f.opts.Output
	head := ""
	if p.uri != "" || p.state == partBinary || p.state == partClosed {
		head = f.quoted(f.line("", styleTool, p.label())) + "\n"
	}
	switch p.state {
	case partText:
		return head + f.body(it, p.text)
	case partRaw:
		return head + f.body(it, p.readable())
	case partBroken:
		return head + o.styled(styleError, p.placeholder())
	default:
		return strings.TrimSuffix(head, "\n")
	}
}

// body returns the text of a result. The part that is not shown on a terminal is counted, with the
// command that shows it.
func (f *textFormatter) body(it item, text string) string {
	return f.styledBody(it, text, func(string) style { return 0 })
}

// styledBody is body with a style for each line.
func (f *textFormatter) styledBody(it item, text string, styleOf func(line string) style) string {
	if !f.opts.Output.Terminal {
		return strings.TrimSuffix(text, "\n")
	}
	o := f.opts.Output
	lines := splitLines(Sanitize(text))
	left := 0
	if f.cut() && len(lines) > shownLines+1 { // the notice takes a line as well
		left = len(lines) - shownLines
		lines = lines[:shownLines]
	}
	for i, line := range lines {
		lines[i] = f.clip(line, 2)
		if st := styleOf(line); st != 0 {
			lines[i] = o.styled(st, lines[i])
		}
	}
	if left > 0 {
		lines = append(lines, o.styled(styleMark, fmt.Sprintf("… %s, shown by: %s",
			Count(left, "more line"), f.command(it))))
	}
	return strings.Join(prefixed(o.styled(styleMark, "│ "), lines), "\n")
}

// command returns the command that shows an item completely.
func (f *textFormatter) command(it item) string {
	return fmt.Sprintf("git jp print --full --turn %d %s", max(it.turn.from, 1), f.conv.ID)
}

// clip cuts one line to the width that is left after used columns.
func (f *textFormatter) clip(line string, used int) string {
	line = f.opts.Output.Text(line)
	if !f.cut() {
		return line
	}
	width := f.opts.Output.Width
	if width <= 0 {
		width = shownColumns
	}
	return fit(strings.ReplaceAll(line, "\t", "    "), max(width-used, leastWidth))
}

func (f *textFormatter) markdown(source string) string {
	if f.opts.Output.Terminal {
		return f.opts.Output.Markdown(source)
	}
	return f.opts.Output.Text(closed(source))
}

// quoted sets text apart on a terminal.
func (f *textFormatter) quoted(text string) string {
	if !f.opts.Output.Terminal {
		return text
	}
	bar := f.opts.Output.styled(styleMark, "│ ")
	return strings.Join(prefixed(bar, splitLines(text)), "\n")
}

func (f *textFormatter) note(mark string, st style, text string) error {
	return f.print(f.line(mark, st, text))
}

// line writes a marked text on one line.
func (f *textFormatter) line(mark string, st style, text string) string {
	return f.opts.Output.styled(st, mark) + f.clip(oneLine(text), ansi.StringWidth(mark))
}

func (f *textFormatter) compaction(ev *events.Compaction) error {
	block := f.line("compaction: ", styleWarn, CompactionLine(ev))
	if ev.Summary != nil && f.opts.Style == StyleFull {
		block += "\n" + f.quoted(f.markdown(*ev.Summary))
	}
	return f.print(block)
}

// indentedJSON returns v with a line for each member.
func indentedJSON(v []byte) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if len(v) == 0 || enc.Encode(json.RawMessage(v)) != nil {
		return string(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
