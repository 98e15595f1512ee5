package sessions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ExportType is the type of a record that only marks its session as an export.
const ExportType = "git-jp-export"

// An Export describes the beginning of a session that was exported from a conversation, for an
// agent to continue: lines after the export belong to that conversation. It is stored in the first
// line. See docs/format.md, "Going on in an agent".
type Export struct {
	Conversation string `json:"conversation"` // its digits
	Lines        int    `json:"lines"`
	Bytes        int64  `json:"bytes"` // of all lines except the first
	Hash         string `json:"hash"`  // of these lines, in the form of a [Version]
	Turns        string `json:"turns"` // names and sums of the turns of the conversation

	first int64 // bytes of the first line
}

// Digits in the name and in the sum of a turn.
const (
	nameDigits = 8
	sumDigits  = 12
)

// NewExport returns the description of an export of a conversation; rest has all lines of the
// export except the first.
func NewExport(id events.ID, s *events.Stream, rest []byte) *Export {
	x := &Export{
		Conversation: id.Digits(), Bytes: int64(len(rest)), Hash: hashOf(rest),
		Lines: 1 + strings.Count(string(rest), "\n"),
	}
	for _, t := range tracesOf(s) {
		x.Turns += t.name + t.sums[len(t.sums)-1]
	}
	return x
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:hashDigits]
}

// exportName is the member that describes the export.
const exportName = "git_jp_export"

// ErrMark reports a session whose export mark cannot be read.
var ErrMark = errors.New(
	"the line that says from which conversation it was exported is damaged")

// A Mark searches the first lines of a session for the line that marks it as an export. A damaged
// mark is an error: otherwise the rest would be imported as a session of its own, including
// everything that was redacted in the conversation since.
type Mark struct {
	Export *Export
	Err    error
}

// Look looks at a line. v is its member [exportName], nil if it has none or is no record.
func (m *Mark) Look(line []byte, v jsontext.Value) {
	if m.Export != nil || m.Err != nil {
		return
	}
	switch n := namings(line); {
	case n == 0:
	case n == 1 && v != nil:
		m.Export, m.Err = parseExport(v, line)
	default:
		m.Err = ErrMark
	}
}

// namings counts how often a line claims to be of an export, in the record or in its payload. A
// line with these words that is not valid JSON counts as two.
func namings(line []byte) (n int) {
	const damaged = 2
	said := bytes.Contains(line, []byte(exportName)) || bytes.Contains(line, []byte(ExportType))
	if !said && !bytes.Contains(line, []byte(`\u`)) {
		return 0
	}
	switch valid := jsontext.Value(line).IsValid(lax); {
	case !valid && said:
		return damaged
	case !valid:
		return 0
	}
	dec := jsontext.NewDecoder(bytes.NewReader(line), lax)
	isType, typed := false, false
	for {
		t, err := dec.ReadToken()
		if err != nil && n == 0 && typed {
			return damaged
		}
		if err != nil {
			return n
		}
		if depth := dec.StackDepth(); t.Kind() != '"' || depth > 2 {
			continue
		}
		in, at := dec.StackIndex(dec.StackDepth())
		isName := in == '{' && at%2 == 1
		typed = typed || isType && !isName && t.String() == ExportType
		isType = isName && t.String() == "type"
		if isName && t.String() == exportName {
			n++
		}
	}
}

// parseExport parses the description of an export.
func parseExport(v jsontext.Value, line []byte) (*Export, error) {
	x := &Export{first: int64(len(line)) + 1}
	if json.Unmarshal(v, x) != nil || x.Lines < 2 || x.Bytes < 1 {
		return nil, ErrMark
	}
	id, err := events.ParseID(x.Conversation)
	if err != nil || id.Digits() != x.Conversation || len(x.Hash) != hashDigits ||
		x.Turns == "" || len(x.Turns)%(nameDigits+sumDigits) != 0 ||
		strings.Trim(x.Hash+x.Turns, "0123456789abcdef") != "" {
		return nil, ErrMark
	}
	return x, nil
}

// ID returns the id of the conversation.
func (x *Export) ID() events.ID {
	id, _ := events.ParseID(x.Conversation) // parseExport checked it
	return id
}

// Length returns the size of the export in bytes.
func (x *Export) Length() int64 { return x.first + x.Bytes }

// ErrDamaged reports a session whose beginning is no longer what was exported.
var ErrDamaged = errors.New("it does not begin with the exported turns")

// Intact returns an error unless a file begins with the unchanged export.
func (x *Export) Intact(ctx context.Context, path string) error {
	f, err := regular.OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	lines, err := NewLines(f, x.Length())
	if err != nil {
		return err
	}
	defer lines.Close()
	count := newlines(1) // counts the first line
	if _, err = io.CopyN(io.Discard, lines.in, x.first); err == nil {
		_, err = io.Copy(io.MultiWriter(lines.sum, &count), lines.in)
	}
	switch sum := hex.EncodeToString(lines.sum.Sum(nil)); {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF),
		err == nil && (sum[:hashDigits] != x.Hash || int(count) != x.Lines):
		return ErrDamaged
	case err != nil:
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// A newlines counts the line feeds that are written to it.
type newlines int

// Write implements [io.Writer].
func (n *newlines) Write(p []byte) (int, error) {
	*n += newlines(bytes.Count(p, []byte{'\n'}))
	return len(p), nil
}

// In returns the current elements of the exported turns of a conversation. ok is false for another
// conversation: one whose last exported turn has other content than at the time of the export.
// Later additions to that turn and redactions do not matter.
//
// Elements that an import of the session put before its first turn are not part of the export.
func (x *Export) In(s *events.Stream, n Name) (all []*events.Element, ok bool) {
	here := map[string]trace{}
	for _, t := range tracesOf(s) {
		here[t.name] = t
	}
	kept, proven, redacted := map[int]bool{}, false, true
	for rest := x.Turns; rest != ""; rest = rest[nameDigits+sumDigits:] {
		t, is := here[rest[:nameDigits]]
		if !is {
			continue // it was removed since
		}
		kept[t.turn] = true
		says := slices.Contains(t.sums, rest[nameDigits:nameDigits+sumDigits])
		proven, redacted = proven || says, redacted && t.redacted
		ok = says || t.redacted
	}
	if !ok || !proven && !redacted {
		return nil, false
	}
	all = slices.DeleteFunc(turnsOf(s, kept), func(e *events.Element) bool {
		key, _ := e.RecordKey()
		return strings.HasPrefix(key, n.String()+"#")
	})
	return all, true
}

// turnsOf returns the elements of some turns. Settings belong to the turn that follows them.
func turnsOf(s *events.Stream, kept map[int]bool) (all []*events.Element) {
	turns := s.TurnOf()
	var before []*events.Element
	for i, e := range s.All() {
		switch {
		case !kept[turns[i]]:
			before = nil
		case e.Kind() == events.KindConfigDelta:
			before = append(before, e)
		default:
			all = append(append(all, before...), e)
			before = nil
		}
	}
	return all
}

// A trace identifies a turn in an export.
type trace struct {
	turn     int
	name     string   // of its key, independent of its content
	sums     []string // of its first event, of its first two, and so on
	redacted bool
}

// tracesOf returns the traces of a conversation's turns. They ignore turn_start events, since
// repairs and merges add some.
func tracesOf(s *events.Stream) (all []trace) {
	turns, keys := s.TurnOf(), s.Keys()
	var chain [sha256.Size]byte
	var asked bool
	for i, e := range s.All() {
		if !e.Kind().IsEvent() || e.Kind() == events.KindTurnStart {
			continue
		}
		if len(all) == 0 || all[len(all)-1].turn != turns[i] {
			all = append(all, trace{turn: turns[i], name: hashOf([]byte(keys[i]))[:nameDigits]})
			chain, asked = [sha256.Size]byte{}, false
		}
		t := &all[len(all)-1]
		if e.Kind() == events.KindChatRequest && !asked {
			t.name, asked = hashOf([]byte(keys[i]))[:nameDigits], true
		}
		chain = sha256.Sum256(append(chain[:], e.Sum().String()...))
		t.sums = append(t.sums, hex.EncodeToString(chain[:])[:sumDigits])
		_, redacted := e.Metadata().Value(events.MetadataRedacted)
		t.redacted = t.redacted || redacted
	}
	return all
}
