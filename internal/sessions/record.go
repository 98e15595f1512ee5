package sessions

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// KindRecord is the type of elements with records that have no counterpart in a conversation.
const KindRecord = events.KindAgentRecord

// An AgentRecord is an element of that type: records of one turn, a line each, in the order in
// which the agent wrote them.
type AgentRecord struct {
	Type    events.Kind    `json:"type"`
	Time    string         `json:"timestamp"`
	Agent   Agent          `json:"agent"`
	ID      string         `json:"id"`      // of the session
	Ordinal int            `json:"ordinal"` // of the element in the conversation
	Kinds   map[string]int `json:"kinds"`   // number of records by kind
	Data    jsontext.Value `json:"data"`    // the lines, see [events.RecordContent]
}

// records collects the records of a turn until it is written.
type records struct {
	at    time.Time // of the last
	kinds map[string]int
	lines bytes.Buffer
	parts []blobs.Content // of lines already written
}

func (r *records) add(at time.Time, kind string, line []byte) {
	if r.kinds == nil {
		r.kinds = map[string]int{}
	}
	r.kinds[kind]++
	r.at = at
	r.lines.Write(line)
	r.lines.WriteByte('\n')
}

// writeRecords writes records as elements, each with as many as fit in a blob.
func (b *Builder) writeRecords(r *records) {
	if r.lines.Len() > 0 {
		r.writePart(&b.keeper)
	}
	for part, content := range r.parts {
		if b.err != nil {
			return
		}
		record := AgentRecord{
			Type: KindRecord, Time: timestamp(r.at), Agent: b.session.Name.Agent,
			ID: b.session.Name.ID, Ordinal: b.ordinal,
			Data: events.RecordData(content),
		}
		if part == 0 {
			record.Kinds = r.kinds
		}
		b.ordinal++
		b.push(b.recordElement(record))
	}
}

// writePart writes as many lines as fit in a blob.
func (r *records) writePart(k *keeper) {
	r.parts = append(r.parts, k.keep(r.lines.Next(k.portion(r.lines.Bytes()))))
}

// portion returns how many bytes of lines go into one blob: complete lines if they fit.
func (k *keeper) portion(lines []byte) int {
	limit := k.options.MaxBlob
	if limit <= 0 || int64(len(lines)) <= limit {
		return len(lines)
	}
	if i := bytes.LastIndexByte(lines[:limit], '\n'); i >= 0 {
		return i + 1
	}
	return int(limit)
}

func (k *keeper) recordElement(r AgentRecord) *events.Element {
	data, err := json.Marshal(r, json.Deterministic(true),
		jsontext.WithIndentPrefix("  "), jsontext.WithIndent("  "))
	if err != nil {
		k.Fail(fmt.Errorf("write records: %w", err))
		return nil
	}
	s, err := events.Decode(slices.Concat([]byte("[\n  "), data, []byte("\n]\n")))
	if err != nil {
		k.Fail(fmt.Errorf("write records: %w", err))
		return nil
	}
	return s.At(0)
}

// timestamp formats a time as elements have it.
func timestamp(at time.Time) string {
	s := at.UTC().Format("2006-01-02 15:04:05.999999999")
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
