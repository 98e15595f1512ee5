//go:build unix

package query_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/go-json-experiment/json/jsontext"
)

// An oddCall is a call with the blocks of its result.
type oddCall struct {
	tool, args string
	blocks     []events.Block
}

func text(s string) events.Block {
	return events.Block{Type: events.BlockText, Content: blobs.Loaded([]byte(s))}
}

func picture(s string) events.Block {
	return events.Block{Type: events.BlockImage, MIMEType: "image/png", Content: blobs.Loaded([]byte(s))}
}

func resourceOf(uri, s string) events.Block {
	return events.Block{Type: events.BlockResource, Resource: &events.Resource{
		URI: uri, MIMEType: "text/plain", Content: blobs.Loaded([]byte(s)),
	}}
}

func read(args string, blocks ...events.Block) oddCall { return oddCall{"read_file", args, blocks} }

func ours(args string, blocks ...events.Block) oddCall { return oddCall{"fs_read_file", args, blocks} }

func list(args, lines string) oddCall {
	return oddCall{"list_folder", args, []events.Block{text(lines)}}
}

// TestOddResultsStayGiven has results that a later result seems to contain. Whatever is done to the
// conversation, each text is in the request to a provider.
func TestOddResultsStayGiven(t *testing.T) {
	const a, uri = `{"path":"a.txt"}`, "file:///$WORKSPACE/a.txt"
	whole := lines("alpha", 1, 12)
	for name, test := range map[string]struct {
		calls []oddCall
		want  []string
	}{
		"a range in words":        {[]oddCall{read(a, text(whole)), read(`{"path":"a.txt","start_line":"2","end_line":"3"}`, text(lines("alpha", 2, 3)))}, []string{whole}},
		"a negative range":        {[]oddCall{read(a, text(whole)), read(`{"path":"a.txt","start_line":-3}`, text(lines("alpha", 10, 12)))}, []string{whole}},
		"ranges that overlap":     {[]oddCall{ours(a, resourceOf(uri+"#L1-5", lines("alpha", 1, 5))), ours(a, resourceOf(uri+"#L3-8", lines("alpha", 3, 8)))}, []string{lines("alpha", 1, 5), lines("alpha", 3, 8)}},
		"a range past the end":    {[]oddCall{read(a, text(whole)), read(`{"path":"a.txt","start_line":1,"end_line":900}`, text("only 12 lines"))}, []string{whole}},
		"a range that is not met": {[]oddCall{ours(a, resourceOf(uri+"#L6-9", lines("alpha", 6, 9))), ours(a, resourceOf(uri+"#L1-12", lines("alpha", 1, 4)))}, []string{lines("alpha", 6, 9)}},
		"a range turned round":    {[]oddCall{ours(a, resourceOf(uri+"#L2-3", lines("alpha", 2, 3))), ours(a, resourceOf(uri+"#L9-1", "x"))}, []string{lines("alpha", 2, 3)}},
		"no result":               {[]oddCall{read(a, text(whole)), read(a)}, []string{whole}},
		"an empty result":         {[]oddCall{read(a, text(whole)), read(a, text(""))}, []string{whole}},
		"an empty resource":       {[]oddCall{ours(a, resourceOf(uri+"#L1-12", whole)), ours(a, resourceOf(uri+"#L1-12", ""))}, []string{whole}},
		"a failure in words":      {[]oddCall{read(a, text(whole)), read(a, text("Error: ENOENT: no such file or directory, open 'a.txt'"))}, []string{whole}},
		"a picture in its place":  {[]oddCall{read(a, text(whole)), read(a, picture("png"))}, []string{whole}},
		"text in place of a picture": {
			[]oddCall{read(a, text(whole), picture("png")), read(a, text("a picture of 3 bytes"))}, []string{whole},
		},
		"other bytes by one name": {
			[]oddCall{
				{"look", "{}", []events.Block{resourceOf("test://doc", lines("page one", 1, 9)), resourceOf("test://doc", lines("page two", 1, 9))}},
				{"look", "{}", []events.Block{resourceOf("test://doc", lines("page one", 1, 9))}},
			}, []string{lines("page two", 1, 9)},
		},
		"a note behind":       {[]oddCall{ours(a, resourceOf(uri, whole), text("note: line 7 is generated, leave it alone, and ask the owner")), ours(a, resourceOf(uri, whole))}, []string{whole, "line 7 is generated"}},
		"a note in its place": {[]oddCall{ours(a, resourceOf(uri, whole)), ours(a, text("unchanged since the last call"))}, []string{whole}},
		"pieces that show nothing": {[]oddCall{
			{"read", a, []events.Block{text(whole)}}, {"write_pieces", `{"path":"a.txt","pieces":[{"old":"x"}]}`, []events.Block{text("3 pieces were written")}},
		}, []string{whole}},
		"a listing that was cut": {[]oddCall{
			list(`{"location":"src"}`, lines("entry", 1, 30)), list(`{"location":"src"}`, lines("entry", 1, 9)+"[21 more]"),
		}, []string{lines("entry", 1, 30)}},
		"a listing of links":    {[]oddCall{list(`{"location":"src/../lib"}`, lines("link", 1, 9)), list(`{"location":"lib"}`, lines("entry", 1, 9))}, []string{lines("link", 1, 9)}},
		"a listing with CRLF":   {[]oddCall{list(`{"location":"src"}`, "x.go\r\n"+lines("entry", 1, 9)), list(`{"location":"src"}`, lines("entry", 1, 9))}, []string{"x.go"}},
		"an empty listing":      {[]oddCall{list(`{"location":"src"}`, lines("entry", 1, 9)), list(`{"location":"src"}`, "")}, []string{lines("entry", 1, 9)}},
		"a path in capitals":    {[]oddCall{read(`{"path":"A.txt"}`, text(whole)), read(a, text(lines("beta", 1, 20)))}, []string{whole}},
		"a path above":          {[]oddCall{read(`{"path":"../a.txt"}`, text(whole)), read(a, text(lines("beta", 1, 20)))}, []string{whole}},
		"a path behind a link":  {[]oddCall{read(`{"path":"link/../a.txt"}`, text(whole)), read(a, text(lines("beta", 1, 20)))}, []string{whole}},
		"what looks like a cut": {[]oddCall{read(a, text(whole)), read(a, text(lines("alpha", 1, 20)+"[cut: 9 of 99 bytes are not shown; the limit of one result is 90 bytes]"))}, []string{whole}},
		"what looks like a stub": {
			[]oddCall{read(a, text(whole)), read(a, text("[superseded] read_file: a later result has this"))}, []string{whole},
		},
		"an unknown argument": {[]oddCall{read(a, text(whole)), read(`{"path":"a.txt","encoding":"hex"}`, text(lines("61 6c", 1, 20)))}, []string{whole}},
	} {
		t.Run(name, func(t *testing.T) {
			s := events.New()
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			add := func(ev events.Event) {
				at = at.Add(time.Second)
				s.Append(events.NewElement(at, ev, events.Metadata{}))
			}
			for _, c := range test.calls { // the same id each time, as some servers send
				add(&events.TurnStart{})
				add(&events.ChatRequest{Content: "q"})
				add(&events.ToolCallRequest{ID: "c1", Name: c.tool, Arguments: jsontext.Value(c.args)})
				add(&events.ToolCallResponse{ID: "c1", Blocks: c.blocks})
				add(&events.ChatResponse{Text: "done"})
			}
			for _, k := range [][]string{nil, {compact.DedupTools}, {compact.TrimSuperseded}, {compact.TrimSuperseded, compact.DedupTools}} {
				out := s
				if k != nil {
					r, err := compact.Run(t.Context(), s, compact.Options{
						Strategies: k, Now: at, Contents: noBlobs{}, Hint: hintOf, Rules: rulesOf,
						Dedup: dedup.Options{Enabled: true, MinBytes: 30, Lookback: 30},
					})
					if err != nil {
						t.Fatal(err)
					}
					out = r.Stream
				}
				for format, a := range adapters() {
					body := sentNext(t, out, a)
					for _, want := range test.want {
						if !strings.Contains(body, strings.TrimSuffix(quotedText(t, want), "\\n")) {
							t.Fatalf("%v, %s: %q is nowhere in %s", k, format, want[:min(len(want), 40)], body)
						}
					}
				}
			}
		})
	}
}

// lostBlobs is a store without any fetched blob.
type lostBlobs struct{}

func (lostBlobs) Read(blobs.Ref) ([]byte, error) { return nil, fs.ErrNotExist }

// TestLostVersionIsNoReferent continues a conversation in which an earlier version of a file was
// not fetched: the later one is delivered in full.
func TestLostVersionIsNoReferent(t *testing.T) {
	const uri = "file:///$WORKSPACE/a.txt"
	lost := resourceOf(uri, "")
	lost.Resource.Content = blobs.Refer(blobs.Ref{Hash: blobs.Sum([]byte("x")), Size: 900})
	s := events.New()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, b := range []events.Block{lost, resourceOf(uri, lines("alpha", 1, 12))} {
		id := fmt.Sprint("c", i)
		for _, ev := range []events.Event{
			&events.TurnStart{}, &events.ChatRequest{Content: "q"},
			&events.ToolCallRequest{ID: id, Name: "fs_read_file", Arguments: jsontext.Value("{}")},
			&events.ToolCallResponse{ID: id, Blocks: []events.Block{b}},
		} {
			s.Append(events.NewElement(at.Add(time.Duration(s.Len())*time.Second), ev, events.Metadata{}))
		}
	}
	turn := query.Turn{
		Record: &lostRecord{paper{s}}, Model: &player{}, Now: func() time.Time { return at },
		Dedup: dedup.Options{Enabled: true, MinBytes: 30, Lookback: 30, Lines: true},
	}
	r, _, err := turn.Explain(query.Prompt{Request: &events.ChatRequest{Content: "next"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"is not available", "alpha 12 is"} {
		if !strings.Contains(said(r), want) {
			t.Errorf("there is no %q in\n%s", want, said(r))
		}
	}
}

type lostRecord struct{ paper }

func (lostRecord) Contents() blobs.Reader { return lostBlobs{} }

// quotedText returns a text as it is written within a string of JSON.
func quotedText(t *testing.T, s string) string {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(data[1 : len(data)-1])
}

// sentNext returns the next request to a provider, with everything left out that can be.
func sentNext(t *testing.T, s *events.Stream, a adapter) string {
	t.Helper()
	turn := query.Turn{
		Record: &paper{s.Clone()}, Model: &player{}, Root: "/home/ada/project",
		Now:   func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) },
		Dedup: dedup.Options{Enabled: true, MinBytes: 30, Lookback: 30, Lines: true},
		Trim:  &query.Trim{Schedule: compact.Eager, Rules: rulesOf},
	}
	r, _, err := turn.Explain(query.Prompt{Request: &events.ChatRequest{Content: "next"}})
	if err != nil {
		t.Fatal(err)
	}
	r.Tools = []llm.Tool{{Name: "read_file"}}
	body, err := a.send(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
