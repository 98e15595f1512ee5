package trace

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/git-jp/git-jp/internal/lists"
)

// maxText limits one argument or message of a line. It is far longer than any name of ours and
// short enough that content passed by mistake does not leak completely.
const maxText = 300

// A Log writes one line an event. A nil *Log is ready to use and writes nothing, so
// callers need not ask whether tracing is on. It is safe for concurrent use.
type Log struct {
	mu sync.Mutex // keeps the lines of several goroutines apart
	w  io.Writer
}

// New returns a log that writes to w, or nil when w is nil.
func New(w io.Writer) *Log {
	if w == nil {
		return nil
	}
	return &Log{w: w}
}

// Command logs a command that started at start and ran for d. Of err only the first line is kept.
func (l *Log) Command(args []string, start time.Time, d time.Duration, err error) {
	if l == nil {
		return
	}
	quoted := lists.Map(args, quote)
	line := fmt.Sprintf("%s %9s  %s", start.Format("15:04:05.000"),
		d.Round(10*time.Microsecond), strings.Join(quoted, " "))
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		line += "  # " + escape(first)
	}
	l.write(line)
}

func (l *Log) write(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.w, "git-jp: "+line+"\n") // a trace never fails a command
}

// quote returns arg unchanged if a shell would read it as one word, else as a Go string.
func quote(arg string) string {
	if len(arg) > maxText {
		return escape(arg)
	}
	if arg == "" || strings.ContainsAny(arg, " \"'\\$`*?;&|<>()") || escape(arg) != arg {
		return strconv.Quote(arg)
	}
	return arg
}

// escape keeps a message on one line and control sequences out of it.
func escape(s string) string {
	s = cut(strings.TrimRight(s, "\n"))
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }
	if strings.IndexFunc(s, odd) < 0 {
		return s
	}
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// cut shortens s to maxText bytes and says that it did.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + fmt.Sprintf("…(%d bytes)", len(s))
}
