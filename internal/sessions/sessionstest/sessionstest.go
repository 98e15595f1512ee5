package sessionstest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/google/go-cmp/cmp"
)

// Contents stores the blobs of conversations.
type Contents map[blobs.Hash][]byte

// Write implements [events.Writer].
func (c Contents) Write(b []byte) (blobs.Ref, error) {
	ref := blobs.RefTo(b)
	c[ref.Hash] = bytes.Clone(b)
	return ref, nil
}

// Read implements [events.Reader].
func (c Contents) Read(ref blobs.Ref) ([]byte, error) {
	data, ok := c[ref.Hash]
	if !ok {
		return nil, fmt.Errorf("no content %s", ref.Hash)
	}
	return data, nil
}

// Import returns the conversations of the session in a file and their blobs. It checks the general
// rules of docs/format.md.
func Import(
	t testing.TB, d sessions.Dialect, path string, until int64,
) ([]*sessions.Conversation, Contents) {
	t.Helper()
	all, kept, err := Try(d, path, until)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return all, kept
}

// ErrNone reports a file that does not name its session.
var ErrNone = errors.New("no session")

// Try is [Import], but returns errors.
func Try(
	d sessions.Dialect, path string, until int64,
) ([]*sessions.Conversation, Contents, error) {
	listed, err := d.List(context.Background(), path)
	if err != nil {
		return nil, nil, err
	}
	if len(listed) != 1 {
		return nil, nil, fmt.Errorf("%s: %w", path, ErrNone)
	}
	s := listed[0]
	return read(context.Background(), d, s, until, sessions.Options{Root: s.Dir})
}

// Read is [Import] of a listed session, with options except the writer.
func Read(
	t testing.TB, d sessions.Dialect, s sessions.Session, o sessions.Options,
) ([]*sessions.Conversation, Contents) {
	t.Helper()
	all, kept, err := read(t.Context(), d, s, 0, o)
	if err != nil {
		t.Fatalf("%s: %v", s.Path, err)
	}
	return all, kept
}

func read(
	ctx context.Context, d sessions.Dialect, s sessions.Session, until int64, o sessions.Options,
) ([]*sessions.Conversation, Contents, error) {
	kept := Contents{}
	o.Writer = kept
	b := sessions.NewBuilder(s, o)
	v, err := d.Read(ctx, s, until, b)
	if err != nil {
		return nil, nil, err
	}
	all, err := b.Finish(v)
	if err != nil {
		return nil, nil, err
	}
	return all, kept, Check(all, kept)
}

func (c Contents) text(content blobs.Content) string {
	text, _ := content.Bytes(c) // a zero content has none
	return string(text)
}

// Check checks conversations by the general rules.
func Check(all []*sessions.Conversation, kept Contents) error {
	names := map[sessions.Name]bool{}
	for _, c := range all {
		if names[c.Name] {
			return fmt.Errorf("%s is there twice", c.Name)
		}
		names[c.Name] = true
		if err := c.Stream.Validate(); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		data := c.Stream.Encode()
		if _, err := events.Decode(data); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		refs, err := events.References(data)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		for _, ref := range refs {
			if _, err := kept.Read(ref.Ref); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
		keys := map[string]bool{}
		for i, e := range c.Stream.All() {
			if err := e.Loadable(); err != nil {
				return fmt.Errorf("%s: element %d: %w", c.Name, i, err)
			}
			key, ok := e.Metadata().Text(sessions.MetadataSource)
			if ok && keys[key] {
				return fmt.Errorf("%s: key %s is there twice", c.Name, key)
			}
			keys[key] = true
		}
	}
	return nil
}

// A Count is the number of events and tokens in a session.
type Count struct {
	Prompts, Answers, Calls, Results int
	Input, Output                    int64
}

// CountOf counts the events of conversations, each key once.
func CountOf(all []*sessions.Conversation) (n Count) {
	seen := map[string]bool{}
	for _, c := range all {
		n.Input += c.Report.Input
		n.Output += c.Report.Output
		for _, e := range c.Stream.All() {
			md := e.Metadata()
			key, _ := md.Text(sessions.MetadataSource)
			if key == "" || seen[key] {
				continue
			}
			seen[key] = true
			n.add(e)
		}
	}
	return n
}

func (n *Count) add(e *events.Element) {
	md := e.Metadata()
	_, injected := md.Value(sessions.MetadataInjected)
	_, split := md.Value(sessions.MetadataSplit)
	switch ev := e.Event().(type) {
	case *events.ChatRequest:
		if !injected && !split {
			n.Prompts++
		}
	case *events.ChatResponse:
		if ev.Form == events.FormMessage {
			n.Answers++
		}
	case *events.ToolCallRequest:
		n.Calls++
	case *events.ToolCallResponse:
		n.Results++
	}
}

// Outline describes conversations, one element a line.
func Outline(t testing.TB, all []*sessions.Conversation, kept Contents) string {
	t.Helper()
	var out strings.Builder
	for _, c := range all {
		fmt.Fprintf(&out, "== %s parent=%s archived=%v\n", c.Name, c.Parent, c.Archived)
		if c.Details.Title != nil {
			fmt.Fprintf(&out, "title %q\n", *c.Details.Title)
		}
		if c.Stream.Len() > 0 {
			fmt.Fprintf(&out, "%s, ", c.Stream.At(0).Time().Format(time.RFC3339))
		}
		fmt.Fprintln(&out, c.Details.Labels)
		var config bytes.Buffer
		if err := json.Compact(&config, c.BaseConfig); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&out, config.String())
		for _, e := range c.Stream.All() {
			fmt.Fprintln(&out, line(e, kept))
		}
		if c.Report.Records != nil {
			fmt.Fprintf(&out, "dropped %v broken %d\n", c.Report.Dropped, len(c.Report.Broken))
		}
	}
	return out.String()
}

// line describes an element.
func line(e *events.Element, kept Contents) string {
	out := string(e.Kind())
	add := func(name, text string) {
		const enough = 120
		if len(text) > enough {
			text = fmt.Sprintf("%s… (%d)", text[:enough], len(text))
		}
		out += fmt.Sprintf(" %s%q", name, text)
	}
	switch ev := e.Event().(type) {
	case *events.ChatRequest:
		add("", ev.Content)
		for _, r := range ev.Resources {
			add("", r.URI+" "+r.MIMEType)
		}
	case *events.ChatResponse:
		add(fmt.Sprint(ev.Form)+" ", ev.Text)
	case *events.ToolCallRequest:
		add(ev.ID+" "+ev.Name+" ", string(ev.Arguments))
	case *events.ToolCallResponse:
		out += fmt.Sprintf(" %s error=%v", ev.ID, ev.IsError)
		for _, b := range ev.Blocks {
			content := b.Content
			if b.Resource != nil {
				out += " " + b.Resource.URI
				content = b.Resource.Content
			}
			add(string(b.Type)+" "+b.MIMEType, kept.text(content))
		}
	case *events.Compaction:
		add(fmt.Sprintf("to=%d ", ev.ToTurn), *ev.Summary)
	case *events.ConfigDelta:
		add("", string(ev.Delta))
	}
	if r, ok := recordsOf(e); ok {
		out += fmt.Sprint(" ", r.Kinds)
	}
	for _, key := range e.Metadata().Keys() {
		if key == events.MetadataPrefix+"sum" {
			continue // it follows from the rest
		}
		v, _ := e.Metadata().Value(key)
		out += " " + strings.TrimPrefix(key, events.MetadataPrefix) + "=" + string(v)
	}
	return out
}

// List returns the sessions of a file by id.
func List(t testing.TB, d sessions.Dialect, path string) map[string]sessions.Session {
	t.Helper()
	all, err := d.List(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]sessions.Session{}
	for _, s := range all {
		byID[s.Name.ID] = s
	}
	return byID
}

var update = flag.Bool("update", false, "write what sessions become anew")

// Golden compares a text with a reviewed file.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := regular.ReadFile(name, regular.MaxOther)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Files returns the files below a directory whose names end in one of the suffixes.
func Files(t testing.TB, dir string, suffixes ...string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		for _, s := range suffixes {
			if err == nil && e.Type().IsRegular() && strings.HasSuffix(path, s) {
				all = append(all, path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
