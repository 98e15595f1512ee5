package render

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// ProgressMode is the form in which the state of long work is shown.
type ProgressMode int

const (
	// ProgressOff shows nothing.
	ProgressOff ProgressMode = iota
	// ProgressBar draws a bar with count, rate and time left over itself, for a terminal.
	ProgressBar
	// ProgressLines writes a line every few seconds, for logs.
	ProgressLines
)

// ProgressOptions describe the work and where its progress is shown.
type ProgressOptions struct {
	Mode  ProgressMode
	Label string           // what is being done, such as "migrate"
	Total int64            // the total amount of work, 0 if unknown
	Now   func() time.Time // required unless Mode is ProgressOff
}

const (
	// progressDelay is how long work runs before progress is shown.
	progressDelay = 500 * time.Millisecond
	// progressInterval is the time between two lines.
	progressInterval = 5 * time.Second
	// barInterval is the time between two updates of the bar.
	barInterval = 100 * time.Millisecond
)

// A Progress shows how far long work has come. It may be used by several goroutines; a nil Progress
// does nothing. Errors of writing are ignored: progress never stops the work.
type Progress struct {
	w    io.Writer
	opts ProgressOptions

	mu    sync.Mutex
	start time.Time
	last  time.Time // when the last line or bar was printed
	done  int64
	drawn int // columns of the bar; 0 until the delay is over
}

// NewProgress begins to measure. The work must end it with [Progress.Done].
func NewProgress(w io.Writer, o ProgressOptions) *Progress {
	if o.Mode == ProgressOff || o.Now == nil {
		return nil
	}
	o.Label = Sanitize(oneLine(o.Label))
	now := o.Now()
	return &Progress{w: w, opts: o, start: now, last: now}
}

// Add reports that n more are done.
func (p *Progress) Add(n int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	now := p.opts.Now()
	switch {
	case p.opts.Mode == ProgressLines && now.Sub(p.last) >= progressInterval:
		p.last = now
		_, _ = io.WriteString(p.w, p.line(now)+"\n")
	case p.opts.Mode == ProgressBar && now.Sub(p.start) >= progressDelay &&
		(p.drawn == 0 || now.Sub(p.last) >= barInterval):
		p.last = now
		p.draw(p.bar() + p.line(now))
	}
}

// Done removes the bar.
func (p *Progress) Done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn > 0 {
		p.draw("")
		_, _ = io.WriteString(p.w, "\r")
	}
	p.opts.Mode = ProgressLines
	p.last = p.opts.Now() // a late Add writes nothing for a while
}

// draw overwrites the bar with text.
func (p *Progress) draw(text string) {
	columns := ansi.StringWidth(text)
	_, _ = io.WriteString(p.w, "\r"+text+strings.Repeat(" ", max(p.drawn-columns, 0)))
	p.drawn = columns
}

// bar returns the bar for the part of the total that is done.
func (p *Progress) bar() string {
	if p.opts.Total <= 0 {
		return ""
	}
	share := clamped(float64(p.done) / float64(p.opts.Total))
	return fmt.Sprintf("%3.0f%% %-*s ", 100*share, barWidth, Bar(share, 0))
}

// line returns count, rate and time left.
func (p *Progress) line(now time.Time) string {
	elapsed := now.Sub(p.start)
	rate := float64(p.done) / max(elapsed.Seconds(), 0.001)
	text := fmt.Sprintf("%s: %s", p.opts.Label, Number(p.done))
	if p.opts.Total > 0 {
		text += " of " + Number(p.opts.Total)
	}
	text += fmt.Sprintf(", %.0f/s", rate)
	if left := p.opts.Total - p.done; left > 0 && rate > 0 {
		seconds := time.Duration(float64(left) / rate * float64(time.Second))
		text += ", " + seconds.Round(time.Second).String() + " left"
	}
	return text
}
