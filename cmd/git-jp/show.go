package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/workspace"
)

type showCmd struct {
	Conversation []string `arg:"" optional:"" help:"Conversations; the active one by default."`
	Files        bool     `help:"Print every path that the conversation depends on, one a line."`
	Null         bool     `short:"z" help:"With --files, end paths with NUL."`
}

// Help explains --files.
func (showCmd) Help() string {
	return `--files prints the conversation's own files and the files of all content it refers to,
relative to the current directory, so that other programs can take them:

    git jp show --files -z 17738 | git add --pathspec-from-file=- --pathspec-file-nul

'git jp stage' does that in one step and looks first whether all of it is there.`
}

// showRecord is what `show --json` prints.
type showRecord struct {
	conversationRecord
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
	Compactions []compactionRecord `json:"compactions"`
}

type compactionRecord struct {
	FromTurn  int    `json:"from_turn"` // counted from 1
	ToTurn    int    `json:"to_turn"`
	Summary   bool   `json:"summary"`
	Reasoning string `json:"reasoning,omitempty"`
	ToolCalls string `json:"tool_calls,omitempty"`
}

// Run shows what there is to know about conversations without opening a blob.
func (c showCmd) Run(a *app) error {
	names := c.Conversation
	if len(names) == 0 {
		names = []string{"."}
	}
	entries, err := findAll(a, names)
	if err != nil {
		return err
	}
	if len(entries) == 1 {
		conv, err := a.openWorkspace.Load(entries[0])
		if err != nil {
			return err
		}
		return c.one(a, conv, false)
	}
	return c.several(a, entries)
}

// several shows what can be read, and reports the others.
func (c showCmd) several(a *app, entries []workspace.Entry) error {
	var problems error
	further := false
	for _, e := range entries {
		conv, err := a.openWorkspace.Load(e)
		if err != nil {
			a.warn("%v", err)
			problems = report.ErrProblems
			continue
		}
		if err := c.one(a, conv, further); err != nil {
			return err
		}
		further = true
	}
	return problems
}

func (c showCmd) one(a *app, conv *workspace.Conversation, further bool) error {
	if c.Files {
		return c.printFiles(a, conv)
	}
	return c.print(a, conv, further)
}

// load finds and reads a conversation, the active one where none is named.
func (a *app) load(name string) (*workspace.Conversation, error) {
	e, err := a.findOr(name)
	if err != nil {
		return nil, err
	}
	return a.openWorkspace.Load(e)
}

func (c showCmd) printFiles(a *app, conv *workspace.Conversation) error {
	paths, err := files(a, conv)
	if err != nil {
		return err
	}
	end := "\n"
	if c.Null {
		end = "\x00"
	}
	for _, p := range paths {
		if !c.Null && strings.Contains(p, "\n") {
			return fmt.Errorf("print %q: the path holds a line feed; use -z", p)
		}
		if _, err := fmt.Fprint(a.stdout, p, end); err != nil {
			return err
		}
	}
	return nil
}

// files returns the paths that a conversation depends on, relative to the current
// directory: its own and those of what it refers to.
func files(a *app, conv *workspace.Conversation) ([]string, error) {
	w := a.openWorkspace
	store := w.BlobsOf(conv.Entry).Dir()
	var paths []string
	for _, name := range conv.Files {
		paths = append(paths, filepath.Join(w.Path(conv.Entry), filepath.FromSlash(name)))
	}
	own := len(paths)
	for at := range conv.Stream.Contents() {
		if at.Content.IsRef() {
			hash := at.Content.Ref().Hash
			paths = append(paths, filepath.Join(store, filepath.FromSlash(hash.Path())))
		}
	}
	slices.Sort(paths[own:])
	paths = append(paths[:own:own], slices.Compact(paths[own:])...)
	here, err := realDir(a.directory())
	if err != nil {
		return nil, err
	}
	for i, p := range paths {
		if rel, err := filepath.Rel(here, p); err == nil {
			paths[i] = rel
		}
	}
	return paths, nil
}

// realDir follows links, as the paths of a workspace have none.
func realDir(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, os.ErrNotExist) {
		return dir, nil
	}
	return real, err
}

func newShowRecord(conv *workspace.Conversation) showRecord {
	s := conv.Stream
	o := render.OutlineOf(s, conv.BaseConfig, int64(len(s.Encode())))
	r := showRecord{
		conversationRecord: newRecord(conv.Entry, conv.Details),
		Turns:              o.Turns, Events: s.Len(), StreamBytes: o.Bytes, Model: o.Model,
		FirstWords: o.First, Compactions: []compactionRecord{},
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
	for _, e := range s.All() {
		if ev, ok := e.Event().(*events.Compaction); ok {
			r.Compactions = append(r.Compactions, newCompactionRecord(ev))
		}
	}
	return r
}

func newCompactionRecord(ev *events.Compaction) compactionRecord {
	r := compactionRecord{
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

func (r compactionRecord) String() string {
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

// content says how much content there is, and where it lies.
func (r showRecord) content() string {
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

func (c showCmd) print(a *app, conv *workspace.Conversation, further bool) error {
	r := newShowRecord(conv)
	r.Active = conv.ID == activeID(a, a.openWorkspace)
	if a.JSON {
		return a.printJSON(r)
	}
	if further {
		fmt.Fprintln(a.stdout)
	}
	return render.Fields(a.stdout, a.output(), c.fields(a, r)...)
}

func (showCmd) fields(a *app, r showRecord) [][2]string {
	when := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return moment(a, *t)
	}
	var compactions []string
	for _, c := range r.Compactions {
		compactions = append(compactions, c.String())
	}
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
		{"Created", moment(a, r.CreatedAt)},
		{"Last active", moment(a, r.lastActive())},
		{"Pinned", when(r.PinnedAt)},
		{"Archived", when(r.ArchivedAt)},
		{"Expires", when(r.ExpiresAt)},
		{"Labels", strings.TrimSpace(labelText(r.Labels))},
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
