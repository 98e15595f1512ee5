package render

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A Terminal writes everything that a terminal is shown. It lets through text, the colours of this
// package and, if moves is set, the carriage return; the rest is made visible as [Sanitize] does.
// Callers sanitise foreign text themselves, colours too; this is a second line of defence. It may
// be used by several goroutines.
type Terminal struct {
	w     io.Writer
	moves bool
	forge bool // the reader obeys lines, too

	mu    sync.Mutex
	rest  []byte // of an incomplete character or colour sequence
	begun bool   // the line has more than spaces already
}

// NewTerminal returns a writer to the terminal w. Moves says that the text returns to the beginning
// of lines, as progress does.
func NewTerminal(w io.Writer, moves bool) *Terminal { return &Terminal{w: w, moves: moves} }

// NewForgeLog returns a writer to w, the log of a forge's job. In addition to what terminals obey,
// forges obey lines that begin with "::", and "##[" anywhere: GitHub's runner does.
func NewForgeLog(w io.Writer) *Terminal { return &Terminal{w: w, forge: true} }

// Unwrap returns the terminal itself, to pass it to another program.
func (t *Terminal) Unwrap() io.Writer { return t.w }

// Write implements [io.Writer].
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	data := append(t.rest, p...) // what is left is cloned
	whole := len(data) - t.unfinished(data)
	t.rest = bytes.Clone(data[whole:])
	if _, err := io.WriteString(t.w, t.disarmed(t.safe(string(data[:whole])))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes incomplete characters and sequences.
func (t *Terminal) Flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := io.WriteString(t.w, t.disarmed(Sanitize(string(t.rest))))
	t.rest = nil
	return err
}

// longestColour is the most bytes of a colour sequence that Write waits for.
const longestColour = 64

// unfinished returns how many bytes at the end begin something that may continue.
func (t *Terminal) unfinished(data []byte) int {
	if tail := bytes.TrimRight(data, ":#vso"); t.forge && len(data)-len(tail) < len("##vso[") {
		if n := len(data) - len(tail); n > 0 {
			return n
		}
	}
	if i := bytes.LastIndexByte(data, 0x1b); i >= 0 && len(data)-i < longestColour {
		tail := data[i+1:]
		if len(tail) == 0 || tail[0] == '[' && len(bytes.Trim(tail[1:], "0123456789:;")) == 0 {
			return len(data) - i
		}
	}
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if tail := data[len(data)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return n
			}
			break
		}
	}
	return 0
}

// elsewhere stands for a character that an earlier write may have ended with.
const elsewhere = utf8.RuneError

func (t *Terminal) safe(s string) string {
	if at, _ := firstUnsafe(elsewhere, s, false); at < 0 {
		return s
	}
	var b strings.Builder
	from := 0
	for i := 0; i < len(s); {
		n := SGRLen(s[i:])
		if t.moves && s[i] == '\r' {
			n = 1
		}
		if n == 0 {
			i++
			continue
		}
		b.WriteString(sanitize(elsewhere, s[from:i], true))
		b.WriteString(s[i : i+n])
		i += n
		from = i
	}
	b.WriteString(sanitize(elsewhere, s[from:], true))
	return b.String()
}

// forgeCommand replaces the commands that GitHub's runner and its relatives look for anywhere in a
// line.
var forgeCommand = strings.NewReplacer("##[", `\u0023#[`, "##vso[", `\u0023#vso[`)

// disarmed replaces text that a forge would obey by an escape of Go.
func (t *Terminal) disarmed(s string) string {
	if !t.forge {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(forgeCommand.Replace(s)) {
		text := strings.TrimLeftFunc(line, unicode.IsSpace)
		if !t.begun && strings.HasPrefix(text, "::") {
			b.WriteString(line[:len(line)-len(text)] + `\u003a`)
			line = text[1:]
		}
		t.begun = !strings.HasSuffix(line, "\n") && (t.begun || text != "")
		b.WriteString(line)
	}
	return b.String()
}
