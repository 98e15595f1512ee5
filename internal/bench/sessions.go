package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// sessions reads the files below a directory as conversations, by name: jp's events.json, and the
// sessions of Codex and of Claude Code, of the latter one conversation for each part between its
// own compactions. Other files are left out.
func sessions(dir string) (map[string]*events.Stream, error) {
	all := map[string]*events.Stream{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch {
		case d.Name() == "events.json":
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if s, err := events.Decode(data); err == nil {
				all[name] = s
			}
		case filepath.Ext(name) == ".jsonl":
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			streams := claudeCode(data)
			if streams == nil {
				streams = codex(data)
			}
			for n, s := range streams {
				all[fmt.Sprintf("%s#%d", name, n)] = s
			}
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		err = errors.New("there are no sessions")
	}
	return all, err
}

// A claudeLine is a line of a session of Claude Code, with the members that a model was sent.
type claudeLine struct {
	Type      string    `json:"type"`
	Subtype   string    `json:"subtype"`
	UUID      string    `json:"uuid"`
	Sidechain bool      `json:"isSidechain"`
	Summary   bool      `json:"isCompactSummary"`
	At        time.Time `json:"timestamp"`
	Message   struct {
		ID      string          `json:"id"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   *claudeUsage    `json:"usage"`
	} `json:"message"`
}

type claudeUsage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Read   int64 `json:"cache_read_input_tokens"`
	Write  int64 `json:"cache_creation_input_tokens"`
}

// A claudeBlock is a part of a message.
type claudeBlock struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    jsontext.Value  `json:"input"`
	Of       string          `json:"tool_use_id"`
	Content  json.RawMessage `json:"content"`
	IsError  bool            `json:"is_error"`
}

// A claudeReader converts one session.
type claudeReader struct {
	done    []*events.Stream
	now     *events.Stream
	seen    map[string]bool
	calls   map[string]claudeBlock
	answer  string            // the message that is being read
	results []*events.Element // of its calls, which were made at once
	asked   time.Time         // when the model was asked last
}

func claudeCode(data []byte) []*events.Stream {
	r := &claudeReader{seen: map[string]bool{}, calls: map[string]claudeBlock{}, now: events.New()}
	for line := range bytes.Lines(data) {
		var l claudeLine
		if json.Unmarshal(line, &l) != nil || l.Sidechain || l.UUID != "" && r.seen[l.UUID] {
			continue
		}
		r.seen[l.UUID] = true
		r.line(l)
	}
	r.cut()
	return r.done
}

func (r *claudeReader) line(l claudeLine) {
	if l.Subtype == "compact_boundary" || l.Summary {
		r.cut()
	}
	if l.Type != "user" && l.Type != "assistant" {
		return
	}
	var text string
	var blocks []claudeBlock
	if json.Unmarshal(l.Message.Content, &text) == nil {
		blocks = []claudeBlock{{Type: "text", Text: text}}
	} else if json.Unmarshal(l.Message.Content, &blocks) != nil {
		return
	}
	if l.Type == "assistant" {
		r.says(l, blocks)
		return
	}
	r.asked = l.At
	for _, b := range blocks {
		switch b.Type {
		case "tool_result":
			r.results = append(r.results, r.result(l.At, b))
		case "text":
			r.flush()
			r.add(l.At, &events.TurnStart{})
			r.add(l.At, &events.ChatRequest{Content: b.Text})
		}
	}
}

// says adds a part of an answer. Results of calls that were made at once come after all of them.
func (r *claudeReader) says(l claudeLine, blocks []claudeBlock) {
	if l.Message.ID != r.answer {
		r.flush()
		r.answer = l.Message.ID
	}
	for _, b := range blocks {
		switch b.Type {
		case "thinking":
			r.add(l.At, &events.ChatResponse{Form: events.FormReasoning, Text: b.Thinking})
		case "text":
			r.add(l.At, &events.ChatResponse{Text: b.Text})
		case "tool_use":
			r.calls[b.ID] = b
			r.add(l.At, &events.ToolCallRequest{ID: b.ID, Name: b.Name, Arguments: b.Input})
		default:
			continue
		}
		r.record(l)
	}
}

// record adds the cost of the answer to the last event, and when it was requested.
func (r *claudeReader) record(l claudeLine) {
	u, last := l.Message.Usage, r.now.Len()-1
	if u == nil {
		return
	}
	e := r.now.At(last)
	v, err := json.Marshal(compact.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.Read, CacheWrite: u.Write, Model: l.Message.Model,
	})
	if err != nil {
		return // numbers and a word
	}
	md := e.Metadata().With(events.MetadataPrefix+"usage", v)
	if !r.asked.IsZero() {
		md = compact.WithSent(md, compact.Sent{At: r.asked, Model: l.Message.Model})
	}
	r.now.Set(last, e.WithMetadata(md))
}

func (r *claudeReader) add(at time.Time, ev events.Event) {
	r.now.Append(events.NewElement(at, ev, events.Metadata{}))
}

func (r *claudeReader) flush() {
	r.now.Append(r.results...)
	r.results = nil
}

func (r *claudeReader) cut() {
	r.flush()
	if r.now.Len() > 0 {
		r.done = append(r.done, r.now)
	}
	r.now, r.answer = events.New(), ""
}

// result returns the result of a call. A read is a resource with the lines that it shows, as the
// tools of this program return one.
func (r *claudeReader) result(at time.Time, b claudeBlock) *events.Element {
	text := claudeText(b.Content)
	block := events.Block{Type: events.BlockText, Content: blobs.Loaded([]byte(text))}
	if uri := readURI(r.calls[b.Of], text); uri != "" && !b.IsError {
		block = events.Block{Type: events.BlockResource, Resource: &events.Resource{
			URI: uri, Content: block.Content,
		}}
	}
	return events.NewElement(at, &events.ToolCallResponse{
		ID: b.Of, IsError: b.IsError, Blocks: []events.Block{block},
	}, events.Metadata{})
}

func claudeText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []claudeBlock
	_ = json.Unmarshal(content, &blocks) // what is neither has no text
	var all []string
	for _, b := range blocks {
		all = append(all, b.Text)
	}
	return strings.Join(all, "\n")
}

var numberedLine = regexp.MustCompile(`(?m)^ *([0-9]+)→`)

// readURI returns the URI of the file that a read shows, "" for another call.
func readURI(call claudeBlock, text string) string {
	var args struct {
		Path   string `json:"file_path"`
		Offset int    `json:"offset"`
		Limit  int    `json:"limit"`
	}
	lines := numberedLine.FindAllStringSubmatch(text, -1)
	if call.Name != "Read" || len(lines) == 0 || json.Unmarshal(call.Input, &args) != nil {
		return ""
	}
	if args.Offset == 0 && args.Limit == 0 {
		return "file://" + args.Path
	}
	return fmt.Sprintf("file://%s#L%s-%s", args.Path, lines[0][1], lines[len(lines)-1][1])
}
