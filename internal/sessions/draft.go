package sessions

import (
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// Keys of metadata that an import writes. docs/format.md says what they are on.
const (
	MetadataSource   = events.MetadataSource
	MetadataOpen     = events.MetadataOpen
	MetadataSplit    = events.MetadataSplit
	MetadataSubagent = events.MetadataSubagent
	MetadataInjected = events.MetadataInjected
)

// A draft is an element that may still change: its turn is not over.
type draft struct {
	at    time.Time
	event events.Event
	md    events.Metadata
	reply string // the model's answer that it is a part of, for usage
}

func (d *draft) element() *events.Element {
	return events.NewElement(d.at, d.event, d.md)
}

// size returns how many bytes of text an element has, which is less than it has in a stream.
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

// sizeOf returns how many bytes of the contents of blocks are in the stream.
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

// A turn is the run of a question, on its way. Its first draft is its turn_start.
type turn struct {
	drafts  []draft
	before  model                    // in force when it began
	usage   map[string]compact.Usage // by reply
	records records
	size    int64 // at least, of what the drafts become
	over    bool  // nothing of it can follow
	// injected says that it has only what the agent said in the person's name.
	injected bool
}

// settle puts what is known only now where it belongs: usage to the last event of its answer,
// the mark to what is not over.
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
			continue // an answer that said nothing
		}
		t.drafts[i].md = compact.WithUsage(t.drafts[i].md, usage)
	}
	if !t.over && len(t.drafts) > 0 {
		t.drafts[0].md = t.drafts[0].md.With(MetadataOpen, jsontext.Value("true"))
	}
}
