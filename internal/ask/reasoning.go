package ask

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/render"
)

// reasoning shows the reasoning of a model on a terminal, beside the answer: standard output has
// only the answer.
type reasoning struct {
	out   render.Output
	w     io.Writer
	spin  *spinner
	mode  string
	limit int // in characters, for mode truncate

	shown int
	line  string // the incomplete line so far
	said  bool   // text of this part was shown
	open  bool   // the cursor is within a line
	lead  bool   // the next line begins a paragraph
}

// Modes of style.reasoning.display that are not numbers.
const (
	ReasoningHidden   = "hidden"
	ReasoningFull     = "full"
	reasoningSummary  = "summary"
	reasoningStatic   = "static"
	reasoningProgress = "progress"
	reasoningTimer    = "timer"
	reasoningTruncate = "truncate"
)

func (t *Terminal) newReasoning(display string, spin *spinner) reasoning {
	r := reasoning{out: t.Errors, w: t.Err, spin: spin, mode: display}
	if n, err := strconv.Atoi(display); err == nil {
		r.mode, r.limit = reasoningTruncate, max(n, 0)
	}
	if !t.Watched() || t.JSON {
		r.mode = ReasoningHidden
	}
	return r
}

func (r *reasoning) delta(d llm.Delta) {
	switch d.Kind {
	case llm.DeltaStart:
		r.begin()
	case llm.DeltaFragment:
		r.say(d.Text)
	case llm.DeltaEnd:
		r.end()
	}
}

func (r *reasoning) begin() {
	r.shown, r.line, r.lead, r.said = 0, "", true, false
	switch r.mode {
	case reasoningStatic:
		r.print("reasoning…\n")
	case reasoningProgress:
		r.spin.stop()
		r.spin.startWith(func(time.Duration) string { return "reasoning" })
	case reasoningTimer:
		r.spin.stop()
		r.spin.startWith(func(d time.Duration) string {
			return "reasoning " + strconv.Itoa(int(d.Seconds())) + " s"
		})
	}
}

func (r *reasoning) say(text string) {
	switch r.mode {
	case ReasoningFull:
		r.print(text)
	case reasoningTruncate:
		r.print(r.cut(text))
	case reasoningSummary:
		r.summarize(text)
	}
}

// cut returns the part of a text that is within the limit.
func (r *reasoning) cut(text string) string {
	left := r.limit - r.shown
	runes := []rune(text)
	r.shown += len(runes)
	switch {
	case left <= 0:
		return ""
	case len(runes) > left:
		return string(runes[:left]) + "…"
	}
	return text
}

// summarize shows the first line of each paragraph: models that summarize their own thoughts begin
// each paragraph with its topic.
func (r *reasoning) summarize(text string) {
	r.line += text
	for {
		line, rest, ok := strings.Cut(r.line, "\n")
		if !ok {
			return
		}
		r.line = rest
		r.paragraph(line)
	}
}

func (r *reasoning) paragraph(line string) {
	if strings.TrimSpace(line) == "" {
		r.lead = true
		return
	}
	if r.lead {
		r.print(line + "\n")
	}
	r.lead = false
}

// end ends a part.
func (r *reasoning) end() {
	switch r.mode {
	case reasoningSummary:
		r.paragraph(r.line)
		r.line = ""
	case reasoningProgress, reasoningTimer:
		if r.spin.stop() {
			r.spin.start()
		}
	}
	if r.open {
		r.print("\n")
	}
	if r.said {
		r.print("\n") // a blank line before the answer
	}
}

func (r *reasoning) print(text string) {
	if text == "" {
		return
	}
	if r.spin.stop() {
		defer r.restart()
	}
	_, _ = io.WriteString(r.w, r.out.Faint(text)) // an error only loses reasoning
	r.said = true
	r.open = !strings.HasSuffix(text, "\n")
}

// restart restarts the spinner at the end of a line: within one it would overwrite text.
func (r *reasoning) restart() {
	if !r.open {
		r.spin.start()
	}
}
