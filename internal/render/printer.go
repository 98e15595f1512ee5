package render

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// A Printer prints the answer of a command, and messages beside it.
type Printer struct {
	Out, Err io.Writer
	// Output and Errors describe the two streams, and whether they are terminals.
	Output, Errors Output

	Quiet   bool // no notes
	Verbose bool // more notes, and progress without a terminal
	JSON    bool // records in place of text

	Now func() time.Time
}

// Note prints a message that is not part of the answer.
func (p *Printer) Note(format string, args ...any) {
	if !p.Quiet {
		fmt.Fprintln(p.Err, Message(fmt.Sprintf(format, args...)))
	}
}

// Warn prints a warning, also with -q.
func (p *Printer) Warn(format string, args ...any) {
	fmt.Fprintf(p.Err, "warning: %s\n", Message(fmt.Sprintf(format, args...)))
}

// Line prints a line of the answer, sanitised for a terminal.
func (p *Printer) Line(text string) error {
	_, err := fmt.Fprintln(p.Out, p.Output.Line(text))
	return err
}

// Entry prints foreign text so that it looks like no more than one line.
func (p *Printer) Entry(text string) error {
	_, err := fmt.Fprintln(p.Out, strings.ReplaceAll(p.Output.Text(text), "\n", `\n`))
	return err
}

// Records prints records for programs, one JSON object a line.
func (p *Printer) Records(records ...any) error { return Records(p, records) }

// Records is [Printer.Records] for a list.
func Records[R any](p *Printer, records []R) error {
	lines := NewJSONLines(p.Out, p.Output)
	for _, r := range records {
		if err := lines.Write(r); err != nil {
			return err
		}
	}
	return nil
}

// Progress shows the state of long work: a bar on a terminal, lines with -v, and nothing with -q.
func (p *Printer) Progress(label string, total int64) *Progress {
	mode := ProgressOff
	switch {
	case p.Quiet:
	case p.Errors.Terminal:
		mode = ProgressBar
	case p.Verbose:
		mode = ProgressLines
	}
	return NewProgress(p.Err, ProgressOptions{Mode: mode, Label: label, Total: total, Now: p.Now})
}

// Stages shows the progress of work in stages, each with its own count. The first function reports
// the progress of a stage, the second ends the last one.
func (p *Printer) Stages(label string) (report func(stage string, done, total int), end func()) {
	var bar *Progress
	current, before := "", 0
	report = func(stage string, done, total int) {
		if stage != current || done < before {
			bar.Done()
			bar = p.Progress(label+" "+stage, int64(total))
			current, before = stage, 0
		}
		bar.Add(int64(done - before))
		before = done
	}
	return report, func() { bar.Done() }
}

// Ago says when something happened: relative for a person, exact in a file.
func (p *Printer) Ago(t time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case p.Output.Terminal:
		return Ago(p.Now(), t)
	default:
		return t.UTC().Format(time.RFC3339)
	}
}

// Moment is [Printer.Ago] with the exact time, where there is room for both.
func (p *Printer) Moment(t time.Time) string {
	if t.IsZero() || !p.Output.Terminal {
		return p.Ago(t)
	}
	return t.Local().Format("2006-01-02 15:04") + ", " + p.Ago(t)
}
