package main

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/render"
)

const formatterWait = 10 * time.Second

// thoughts shows what a model thinks, on a terminal, beside the answer: standard output has
// the answer alone.
type thoughts struct {
	out   render.Output
	w     io.Writer
	spin  *spinner
	mode  string
	limit int // characters, of mode truncate

	shown int
	line  string // what was said of the line that is not complete
	said  bool   // something of this part was shown
	open  bool   // the cursor stands within a line
	lead  bool   // the next line is the first of a paragraph
}

// Modes of style.reasoning.display that are no number.
const (
	thoughtsHidden   = "hidden"
	thoughtsFull     = "full"
	thoughtsSummary  = "summary"
	thoughtsStatic   = "static"
	thoughtsProgress = "progress"
	thoughtsTimer    = "timer"
	thoughtsTruncate = "truncate"
)

func (a *app) newThoughts(k *talk, spin *spinner) thoughts {
	t := thoughts{out: a.outputOf(a.stderrTerminal), w: a.stderr, spin: spin}
	t.mode = k.stringOr(thoughtsFull, "style", "reasoning", "display")
	if n, err := strconv.Atoi(t.mode); err == nil {
		t.mode, t.limit = thoughtsTruncate, max(n, 0)
	}
	if k.hideReasoning || !a.stderrTerminal || a.Quiet || a.JSON {
		t.mode = thoughtsHidden
	}
	return t
}

func (t *thoughts) delta(d llm.Delta) {
	switch d.Kind {
	case llm.DeltaStart:
		t.begin()
	case llm.DeltaFragment:
		t.say(d.Text)
	case llm.DeltaEnd:
		t.end()
	}
}

func (t *thoughts) begin() {
	t.shown, t.line, t.lead, t.said = 0, "", true, false
	switch t.mode {
	case thoughtsStatic:
		t.print("reasoning…\n")
	case thoughtsProgress:
		t.spin.stop()
		t.spin.startWith(func(time.Duration) string { return "reasoning" })
	case thoughtsTimer:
		t.spin.stop()
		t.spin.startWith(func(d time.Duration) string {
			return "reasoning " + strconv.Itoa(int(d.Seconds())) + " s"
		})
	}
}

func (t *thoughts) say(text string) {
	switch t.mode {
	case thoughtsFull:
		t.print(text)
	case thoughtsTruncate:
		t.print(t.cut(text))
	case thoughtsSummary:
		t.summarize(text)
	}
}

// cut is what of a text may still be shown.
func (t *thoughts) cut(text string) string {
	left := t.limit - t.shown
	runes := []rune(text)
	t.shown += len(runes)
	switch {
	case left <= 0:
		return ""
	case len(runes) > left:
		return string(runes[:left]) + "…"
	}
	return text
}

// summarize shows the first line of each paragraph: models that sum their thoughts up
// themselves begin each with what it is about.
func (t *thoughts) summarize(text string) {
	t.line += text
	for {
		line, rest, ok := strings.Cut(t.line, "\n")
		if !ok {
			return
		}
		t.line = rest
		t.paragraph(line)
	}
}

func (t *thoughts) paragraph(line string) {
	if strings.TrimSpace(line) == "" {
		t.lead = true
		return
	}
	if t.lead {
		t.print(line + "\n")
	}
	t.lead = false
}

// end ends the part.
func (t *thoughts) end() {
	switch t.mode {
	case thoughtsSummary:
		t.paragraph(t.line)
		t.line = ""
	case thoughtsProgress, thoughtsTimer:
		if t.spin.stop() {
			t.spin.start()
		}
	}
	if t.open {
		t.print("\n")
	}
	if t.said {
		t.print("\n") // before the answer
	}
}

func (t *thoughts) print(text string) {
	if text == "" {
		return
	}
	if t.spin.stop() {
		defer t.restart()
	}
	_, _ = io.WriteString(t.w, t.out.Faint(text)) // what cannot be shown is not missed
	t.said = true
	t.open = !strings.HasSuffix(text, "\n")
}

// restart moves again where a line has ended: within one it would write over it.
func (t *thoughts) restart() {
	if !t.open {
		t.spin.start()
	}
}
