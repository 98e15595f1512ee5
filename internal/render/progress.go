package render

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
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
)

// A Progress shows how far long work has come. It may be used by several goroutines; a nil Progress
// does nothing. Errors of writing are ignored: progress never stops the work.
type Progress struct {
	w    io.Writer
	opts ProgressOptions

	mu    sync.Mutex
	start time.Time
	last  time.Time // of the last line
	done  int64
	bar   *progressbar.ProgressBar // nil until the delay is over
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
	case p.opts.Mode == ProgressBar:
		p.draw(now)
	case now.Sub(p.last) >= progressInterval:
		p.last = now
		_, _ = io.WriteString(p.w, p.line(now)+"\n")
	}
}

// Done removes the bar.
func (p *Progress) Done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
		_ = p.bar.Exit()
		p.bar = nil
	}
	p.opts.Mode = ProgressLines
	p.last = p.opts.Now() // a late Add writes nothing for a while
}

// draw shows the bar, which is made when the delay is over.
func (p *Progress) draw(now time.Time) {
	if p.bar == nil {
		if now.Sub(p.start) < progressDelay {
			return
		}
		p.bar = newBar(p.w, p.opts)
	}
	_ = p.bar.Set64(p.done)
}

func newBar(w io.Writer, o ProgressOptions) *progressbar.ProgressBar {
	return progressbar.NewOptions64(barTotal(o.Total),
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(o.Label),
		progressbar.OptionSetWidth(20),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionUseANSICodes(false),
	)
}

// barTotal translates an unknown total for the library.
func barTotal(n int64) int64 {
	if n <= 0 {
		return -1
	}
	return n
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
