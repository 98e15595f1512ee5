package sessions

import (
	"bytes"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json"
)

// KindRecord is the type of the elements that keep what has no counterpart.
const KindRecord = events.KindAgentRecord

// An AgentRecord is an element of that type: the records of one turn, a line each, in the order
// in which the agent wrote them.
type AgentRecord struct {
	Type    events.Kind    `json:"type"`
	Time    string         `json:"timestamp"`
	Agent   Agent          `json:"agent"`
	ID      string         `json:"id"`      // of the session
	Ordinal int            `json:"ordinal"` // of the element in the conversation
	Kinds   map[string]int `json:"kinds"`   // how many of each
	Data    blobReference  `json:"data"`
}

type blobReference struct {
	Hash string `json:"$blob"`
	Size int64  `json:"size"`
}

// RecordsOf returns what an element of that type says.
func RecordsOf(e *events.Element) (r AgentRecord, ok bool) {
	if e.Kind() != KindRecord {
		return AgentRecord{}, false
	}
	return r, json.Unmarshal(e.Raw(), &r) == nil
}

// Ref returns the reference of the lines.
func (r AgentRecord) Ref() (blobs.Ref, error) {
	h, err := blobs.ParseHash(r.Data.Hash)
	return blobs.Ref{Hash: h, Size: r.Data.Size}, err
}

// records are the records of a turn, until it is written.
type records struct {
	at    time.Time // of the last
	kinds map[string]int
	lines bytes.Buffer
	parts []blobs.Ref // of lines that are written
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
