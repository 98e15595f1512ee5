package listing

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// An Overview is everything about a conversation that can be known without opening a blob.
type Overview struct {
	Record
	Turns       int                `json:"turns"`
	Events      int                `json:"events"`
	Calls       int                `json:"calls"`
	OpenCalls   int                `json:"open_calls"`
	Incomplete  bool               `json:"incomplete"`
	Contents    int                `json:"contents"`
	References  int                `json:"references"`
	Bytes       int64              `json:"bytes"`
	StreamBytes int64              `json:"stream_bytes"`
	Model       string             `json:"model"`
	FirstWords  string             `json:"first_words"`
	Compactions []CompactionRecord `json:"compactions"`
}

// A CompactionRecord is a compaction of the overlay.
type CompactionRecord struct {
	FromTurn  int    `json:"from_turn"` // counted from 1
	ToTurn    int    `json:"to_turn"`
	Summary   bool   `json:"summary"`
	Reasoning string `json:"reasoning,omitempty"`
	ToolCalls string `json:"tool_calls,omitempty"`
}

// NewOverview returns the overview of a conversation that is not the active one.
func NewOverview(conv *workspace.Conversation) Overview {
	s := conv.Stream
	o := render.OutlineOf(s, conv.BaseConfig, int64(len(s.Encode())))
	r := Overview{
		Record: NewRecord(conv.Entry, conv.Details),
		Turns:  o.Turns, Events: s.Len(), StreamBytes: o.Bytes, Model: o.Model,
		FirstWords: o.First, Compactions: []CompactionRecord{},
	}
	for _, call := range s.Calls() {
		r.Calls++
		if call.Open() {
			r.OpenCalls++
		}
	}
	_, r.Incomplete = s.Incomplete()
	for at := range s.Contents() {
		r.Contents++
		r.Bytes += at.Content.Size()
		if at.Content.IsRef() {
			r.References++
		}
	}
	for _, at := range s.References() { // elsewhere, such as in records of an agent
		if at.Loose && at.Counts() {
			r.Contents++
			r.References++
			r.Bytes += at.Ref.Size
		}
	}
	for _, e := range s.All() {
		if ev, ok := e.Event().(*events.Compaction); ok {
			r.Compactions = append(r.Compactions, NewCompactionRecord(ev))
		}
	}
	return r
}

// NewCompactionRecord returns the record of a compaction.
func NewCompactionRecord(ev *events.Compaction) CompactionRecord {
	r := CompactionRecord{
		FromTurn: ev.FromTurn + 1, ToTurn: ev.ToTurn + 1, Summary: ev.Summary != nil,
	}
	if ev.StripReasoning {
		r.Reasoning = "strip"
	}
	switch p := ev.ToolCalls; {
	case p == nil:
	case p.Omit:
		r.ToolCalls = "omit"
	case p.Request && p.Response:
		r.ToolCalls = "strip"
	case p.Request:
		r.ToolCalls = "strip-requests"
	case p.Response:
		r.ToolCalls = "strip-responses"
	}
	return r
}

// String says which turns were compacted, and how.
func (r CompactionRecord) String() string {
	var parts []string
	if r.Summary {
		parts = append(parts, "summary")
	}
	if r.Reasoning != "" {
		parts = append(parts, "reasoning")
	}
	if r.ToolCalls != "" {
		parts = append(parts, "tools "+r.ToolCalls)
	}
	turns := fmt.Sprintf("turn %d", r.FromTurn)
	if r.ToTurn != r.FromTurn {
		turns = fmt.Sprintf("turns %d..%d", r.FromTurn, r.ToTurn)
	}
	return fmt.Sprintf("%s (%s)", turns, strings.Join(parts, " + "))
}

// content says how much content there is, and where it is.
func (r Overview) content() string {
	pieces := render.Count(r.Contents, "piece")
	switch {
	case r.Contents == 0:
		return "none"
	case r.References == 0:
		return fmt.Sprintf("%s in %s, in the stream", render.Bytes(r.Bytes), pieces)
	case r.References == r.Contents:
		return fmt.Sprintf("%s in %s, in the store", render.Bytes(r.Bytes), pieces)
	default:
		return fmt.Sprintf("%s in %s, %d of them in the store",
			render.Bytes(r.Bytes), pieces, r.References)
	}
}

// Print prints the overview.
func (r Overview) Print(p *render.Printer) error {
	if p.JSON {
		return p.Records(r)
	}
	return render.Fields(p.Out, p.Output, r.fields(p)...)
}

func (r Overview) fields(p *render.Printer) [][2]string {
	when := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return p.Moment(*t)
	}
	var compactions []string
	compactions = append(compactions, lists.Map(r.Compactions, CompactionRecord.String)...)
	calls := fmt.Sprint(r.Calls)
	if r.OpenCalls > 0 {
		calls += fmt.Sprintf(" (%d without a result)", r.OpenCalls)
	}
	state := ""
	if r.Incomplete {
		state = "the last turn is incomplete"
	}
	return [][2]string{
		{"ID", r.ID},
		{"Title", r.Title},
		{"Path", r.Path},
		{"Created", p.Moment(r.CreatedAt)},
		{"Last active", p.Moment(r.lastActive())},
		{"Pinned", when(r.PinnedAt)},
		{"Archived", when(r.ArchivedAt)},
		{"Expires", when(r.ExpiresAt)},
		{"Labels", strings.TrimSpace(LabelText(r.Labels))},
		{"First words", r.FirstWords},
		{"Model", r.Model},
		{"Turns", fmt.Sprint(r.Turns)},
		{"Events", fmt.Sprint(r.Events)},
		{"Tool calls", calls},
		{"Stream", render.Bytes(r.StreamBytes)},
		{"Content", r.content()},
		{"Compactions", strings.Join(compactions, ", ")},
		{"Forked from", r.ForkedFrom.String()},
		{"State", state},
	}
}

// Files returns the paths that a conversation depends on, its own and those of the blobs that it
// refers to.
func Files(w *workspace.Workspace, conv *workspace.Conversation) []string {
	store := w.BlobsOf(conv.Entry).Dir()
	var paths []string
	for _, name := range conv.Files {
		paths = append(paths, filepath.Join(w.Path(conv.Entry), filepath.FromSlash(name)))
	}
	own := len(paths)
	for _, at := range conv.Stream.References() {
		if at.Counts() {
			paths = append(paths, filepath.Join(store, filepath.FromSlash(at.Ref.Hash.Path())))
		}
	}
	slices.Sort(paths[own:])
	paths = append(paths[:own:own], slices.Compact(paths[own:])...)
	return paths
}
