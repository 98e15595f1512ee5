package ask

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/tool"
	"pgregory.net/rapid"
)

// A glass is the buffer behind standard output and standard error on a terminal.
type glass struct {
	mu   sync.Mutex
	data bytes.Buffer
}

func (g *glass) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.data.Write(p)
}

func (g *glass) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.data.String()
}

// seen returns what a terminal finally shows of a text: later characters overwrite earlier ones.
// Colours and spaces at the end of lines are left out.
func seen(t rapid.TB, written string) string {
	t.Helper()
	var lines []string
	var line []rune
	at := 0
	for s := written; s != ""; {
		if rest, ok := strings.CutPrefix(s, "\x1b["); ok {
			end := strings.IndexByte(rest, 'm')
			if end < 0 || strings.Trim(rest[:end], "0123456789;") != "" {
				t.Fatalf("more than a colour: %q", s[:min(len(s), 12)])
			}
			s = rest[end+1:]
			continue
		}
		r := []rune(s)[0]
		s = s[len(string(r)):]
		switch {
		case r == '\n':
			lines, line, at = append(lines, strings.TrimRight(string(line), " ")), nil, 0
		case r == '\r':
			at = 0
		case r == '\t':
			at = at/8*8 + 8
		case r < ' ':
			t.Fatalf("control character %q", r)
		default:
			for at >= len(line) {
				line = append(line, ' ')
			}
			line[at] = r
			at++
		}
	}
	return strings.Join(append(lines, strings.TrimRight(string(line), " ")), "\n")
}

// newScreenAnswer returns an answer on a glass, with a fast spinner.
func newScreenAnswer(g *glass, out *bytes.Buffer) *Answer {
	shown := render.Output{Terminal: true, Color: true, Width: 40}
	t := &Terminal{Printer: render.Printer{Out: g, Err: g, Output: shown, Errors: shown}}
	if out != nil {
		t.Out, t.Output = out, render.Output{}
	}
	s := t.NewAnswer(context.Background(), Manner{Reasoning: ReasoningHidden})
	s.spin.step = 200 * time.Microsecond
	return s
}

// play sends a text in pieces, with pauses in which the spinner runs.
func play(t *rapid.T, s *Answer, text string) {
	s.Sending(nil)
	s.Delta(llm.Delta{Kind: llm.DeltaStart})
	for text != "" {
		n := rapid.IntRange(1, len(text)).Draw(t, "piece")
		if rapid.Bool().Draw(t, "small") {
			n = min(n, rapid.IntRange(1, 7).Draw(t, "size"))
		}
		for n < len(text) && text[n]&0xc0 == 0x80 {
			n++ // deltas have complete characters
		}
		if rapid.IntRange(0, 3).Draw(t, "pause") == 0 {
			time.Sleep(400 * time.Microsecond)
		}
		s.Delta(llm.Delta{Kind: llm.DeltaFragment, Text: text[:n]})
		text = text[n:]
	}
	s.Delta(llm.Delta{Kind: llm.DeltaEnd})
	s.Delta(llm.Delta{Kind: llm.DeltaStop})
	if err := s.End(query.Answer{}); err != nil {
		t.Fatal(err)
	}
}

func markdownText() *rapid.Generator[string] {
	blocks := []string{
		"# Heading with `code`\n\n", "Some *emphasis* in a paragraph that is longer than a line of the terminal is wide.\n\n",
		"So:\n\n- one\n- two\n  - deeper **bold**\n\n", "```go\nfunc main() {\n\tprintln(\"x\")\n}\n```\n\n",
		"| the one side | the other one |\n|---|---|\n| 1 | zwei |\n\n", "> quoted\n> twice\n\n", "So:\n\n1. first\n2. second\n\n",
		"Ünïcödé, 漢字 and an emoji 🙂 here\n\n", "a\x1b[31m colour\x1b[2J that is not ours\r\n\n", "---\n\n", "no line end",
	}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(blocks), 1, 6).Draw(t, "blocks"), "")
	})
}

// TestScreenShowsTheMarkdown checks that the screen finally shows the rendered answer and nothing
// else, however it was split and whatever the spinner did.
func TestScreenShowsTheMarkdown(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := markdownText().Draw(rt, "text")
		g := &glass{}
		s := newScreenAnswer(g, nil)
		play(rt, s, text)
		want := seen(rt, render.Output{Terminal: true, Color: true, Width: 40}.Markdown(text))
		if got := seen(rt, g.String()); strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") {
			rt.Fatalf("got\n%s\nwant\n%s\nof %q", got, want, text)
		}
	})
}

// TestPipeSeesTheText checks that a pipe gets the unformatted answer, while the spinner runs on the
// terminal.
func TestPipeSeesTheText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := markdownText().Draw(rt, "text")
		g, out := &glass{}, &bytes.Buffer{}
		play(rt, newScreenAnswer(g, out), text)
		want := text
		if !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		if out.String() != want {
			rt.Fatalf("got %q, want %q", out, want)
		}
		if left := strings.TrimSpace(seen(rt, g.String())); left != "" {
			rt.Fatalf("beside it stands %q", left)
		}
	})
}

// TestSpinnerMoves checks that the spinner of these tests runs at all.
func TestSpinnerMoves(t *testing.T) {
	g := &glass{}
	s := newScreenAnswer(g, nil)
	s.spin.startWith(func(d time.Duration) string { return fmt.Sprint("thinking ", d > 0) })
	for !strings.Contains(g.String(), "thinking true") {
		time.Sleep(time.Millisecond)
	}
	if !s.spin.stop() || seen(t, g.String()) != "" {
		t.Errorf("it leaves %q", seen(t, g.String()))
	}
}

// TestSlowToolsAreTold checks that the user sees how long a call has run and how to end it, and
// that nothing is written if no terminal is watched.
func TestSlowToolsAreTold(t *testing.T) {
	for _, watched := range []bool{true, false} {
		out := new(glass)
		screen := &Terminal{Printer: render.Printer{
			Err: out, Errors: render.Output{Terminal: watched},
		}}
		screen.screen.spin = &spinner{w: out, on: watched, step: time.Microsecond}
		screen.screen.spin.start()
		screen.Slow(tool.Call{Name: "build"}, 2*time.Minute)
		moves := screen.screen.spin.stop()
		shown := seen(t, out.String())
		if told := strings.Contains(shown, "build has been running for 2m0s; Ctrl-C"); told != watched ||
			moves != watched {
			t.Errorf("watched %v: told %v, moves %v: %q", watched, told, moves, shown)
		}
	}
}
