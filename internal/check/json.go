package check

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// jsonFinding is a finding as docs/check.schema.json describes it.
type jsonFinding struct {
	Type         string   `json:"type"`
	State        State    `json:"state"`
	Severity     Severity `json:"severity"`
	Commit       string   `json:"commit,omitempty"`
	Commits      int      `json:"commits"`
	Path         string   `json:"path,omitempty"`
	Line         int      `json:"line"`
	Conversation string   `json:"conversation,omitempty"`
	Title        string   `json:"title,omitempty"`
	Turn         int      `json:"turn,omitempty"`
	Element      *int     `json:"element,omitempty"`
	Call         string   `json:"call,omitempty"`
	Tool         string   `json:"tool,omitempty"`
	Hash         string   `json:"hash,omitempty"`
	Size         *int64   `json:"size,omitempty"`
	References   int      `json:"references,omitempty"`
	Rule         string   `json:"rule,omitempty"`
	Fingerprint  string   `json:"fingerprint,omitempty"`
	Detail       string   `json:"detail"`
	Next         string   `json:"next,omitempty"`
}

type jsonSummary struct {
	Type          string `json:"type"`
	Version       int    `json:"version"`
	Sources       int    `json:"sources"`
	Conversations int    `json:"conversations"`
	References    int    `json:"references"`
	Blobs         int    `json:"blobs"`
	Verified      int    `json:"verified"`
	Errors        int    `json:"errors"`
	Warnings      int    `json:"warnings"`
	Notes         int    `json:"notes"`
	Strict        bool   `json:"strict"`
	Failed        bool   `json:"failed"`
}

// schemaVersion increases when readers of the JSON format have to change.
const schemaVersion = 1

// JSON writes one object a line: each finding, then a summary. The last line is always the summary,
// so that truncated output can be recognized.
func (p Printer) JSON(w io.Writer, r *Report) error {
	out := bufio.NewWriter(w)
	for _, f := range r.Findings {
		if err := writeJSON(out, toJSON(f), ""); err != nil {
			return err
		}
	}
	if err := writeJSON(out, summaryOf(r), ""); err != nil {
		return err
	}
	return out.Flush()
}

func toJSON(f Finding) jsonFinding {
	j := jsonFinding{
		Type: "finding", State: f.State, Severity: f.Severity,
		Commit: f.Commit, Commits: f.Commits, Path: f.Path, Line: f.Line,
		Conversation: f.Conversation, Title: f.Title, Turn: f.Turn,
		Call: f.Call, Tool: f.Tool, References: f.References,
		Rule: f.Rule, Fingerprint: f.Fingerprint, Detail: f.Detail, Next: f.Next,
	}
	if f.Element >= 0 {
		j.Element = &f.Element
	}
	if !f.Hash.IsZero() {
		j.Hash, j.Size = f.Hash.String(), &f.Size
	}
	return j
}

func summaryOf(r *Report) jsonSummary {
	return jsonSummary{
		Type: "summary", Version: schemaVersion,
		Sources: r.Sources, Conversations: r.Conversations, References: r.References,
		Blobs: r.Blobs, Verified: r.Verified,
		Errors: r.Count(Error), Warnings: r.Count(Warning), Notes: r.Count(Note),
		Strict: r.Strict, Failed: r.Problems(),
	}
}

// writeJSON writes v and a newline. It escapes everything that a terminal would obey; JSON itself
// only requires that for control characters below space.
func writeJSON(w io.Writer, v any, indent string) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	_, err := w.Write(escapeJSON(buf.Bytes()))
	return err
}

func escapeJSON(data []byte) []byte {
	unsafe := func(r rune) bool { return r >= 0x7f && r != utf8.RuneError && hidden(r) }
	if bytes.IndexFunc(data, unsafe) < 0 {
		return data
	}
	out := make([]byte, 0, len(data)+16)
	for _, r := range string(data) {
		switch {
		case !unsafe(r):
			out = utf8.AppendRune(out, r)
		case r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
	}
	return out
}
