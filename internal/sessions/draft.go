package sessions

import (
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// Metadata keys that an import writes. docs/format.md says which elements have them.
const (
	MetadataSource   = events.MetadataSource
	MetadataOpen     = events.MetadataOpen
	MetadataSplit    = events.MetadataSplit
	MetadataSubagent = events.MetadataSubagent
	MetadataInjected = events.MetadataInjected
)

// A draft is an element of a turn that is not complete, so it may still change.
type draft struct {
	at    time.Time
	event events.Event
	md    events.Metadata
	reply string // the model's answer to which it belongs, for usage
}

func (d *draft) element() *events.Element {
	return events.NewElement(d.at, d.event, d.md.WithSum())
}

// size returns the bytes of text in an element, which is less than its size in a stream.
func (d *draft) size() int64 {
	switch e := d.event.(type) {
	case *events.ChatRequest:
		n := int64(len(e.Content))
		for i := range e.Resources {
			n += inStream(e.Resources[i].Content)
		}
		return n
	case *events.ChatResponse:
		return int64(len(e.Text))
	case *events.ToolCallRequest:
		return int64(len(e.Arguments))
	case *events.ToolCallResponse:
		return sizeOf(e.Blocks)
	}
	return 0
}

// sizeOf returns the bytes of the contents of blocks that are stored in the stream.
func sizeOf(blocks []events.Block) (n int64) {
	for _, b := range blocks {
		n += inStream(b.Content)
		if b.Resource != nil {
			n += inStream(b.Resource.Content)
			if b.Resource.Formatted != nil {
				n += inStream(*b.Resource.Formatted)
			}
		}
	}
	return n
}

func inStream(c blobs.Content) int64 {
	if c.IsRef() {
		return 0
	}
	return c.Size()
}

// A turn is a turn that is being built. Its first draft is its turn_start.
type turn struct {
	drafts  []draft
	before  model                    // in force when the turn began
	usage   map[string]compact.Usage // by reply
	records records
	size    int64 // lower bound of the size of its elements
	over    bool  // complete: no event can follow
	// injected is true if it has only text that the agent wrote in the person's name.
	injected bool
}

// settle sets metadata that is known only at the end of a turn: usage on the last event of its
// answer, the mark of an open turn.
func (t *turn) settle() {
	last := map[string]int{}
	for i := range t.drafts {
		if d := &t.drafts[i]; d.reply != "" {
			last[d.reply] = i
		}
	}
	for reply, usage := range t.usage {
		i, ok := last[reply]
		if !ok {
			continue // an answer without events
		}
		t.drafts[i].md = compact.WithUsage(t.drafts[i].md, usage)
	}
	if !t.over && len(t.drafts) > 0 {
		t.drafts[0].md = t.drafts[0].md.With(MetadataOpen, jsontext.Value("true"))
	}
}

// reuse takes over the memory of the turn before, which was written.
func (t *turn) reuse(before *turn) {
	clear(before.drafts)
	t.drafts = before.drafts[:0]
	if before.records.lines.Cap() <= maxKept {
		t.records.lines = before.records.lines
		t.records.lines.Reset()
	}
}
