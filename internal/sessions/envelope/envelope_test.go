package envelope_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/sessions/envelope"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
)

// reader reads the blobs that an import wrote.
type reader struct{ sessionstest.Contents }

func (r reader) Read(ref blobs.Ref) ([]byte, error) { return r.Contents[ref.Hash], nil }

// recorded returns the conversations of recorded sessions.
func recorded(t *testing.T) (all []*sessions.Conversation, kept sessionstest.Contents) {
	t.Helper()
	kept = sessionstest.Contents{}
	names, err := filepath.Glob("../testdata/recorded/claude-code/*/.claude/projects/*/*.jsonl")
	if err != nil || len(names) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	for _, name := range names {
		listed, err := claude.Dialect{}.List(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range listed {
			made, contents := sessionstest.Read(t, claude.Dialect{}, s, sessions.Options{})
			all = append(all, made...)
			for h, b := range contents {
				kept[h] = b
			}
		}
	}
	return all, kept
}

// TestRoundTrip checks that a conversation is the same, to the byte, after it was written and read.
func TestRoundTrip(t *testing.T) {
	all, kept := recorded(t)
	for i, c := range all {
		in := &envelope.Envelope{
			ID: c.Name.IDs()[i%2], Local: i%2 == 0, Archived: c.Archived,
			Details: c.Details, BaseConfig: c.BaseConfig, Stream: c.Stream,
		}
		var line bytes.Buffer
		if err := envelope.Write(&line, in, reader{kept}); err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(line.Bytes(), []byte("\n")); n != 1 {
			t.Errorf("%s is %d lines", c.Name, n)
		}
		out, err := envelope.Read(&line)
		if err != nil || len(out) != 1 {
			t.Fatalf("%s: %d envelopes, %v", c.Name, len(out), err)
		}
		got, again := out[0], sessionstest.Contents{}
		for _, b := range got.Contents {
			if _, err := again.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := got.Stream.Externalize(again, events.ExternalizeOptions{Legacy: true}); err != nil {
			t.Fatal(err)
		}
		if got.ID != in.ID || got.Local != in.Local || got.Archived != in.Archived {
			t.Errorf("%s: %+v", c.Name, got)
		}
		for what, pair := range map[string][2][]byte{
			"stream":  {c.Stream.Encode(), got.Stream.Encode()},
			"details": {c.Details.Encode(), got.Details.Encode()},
			"base":    {c.BaseConfig, got.BaseConfig},
		} {
			if !bytes.Equal(pair[0], pair[1]) {
				t.Errorf("%s: %s was\n%s\nand is\n%s", c.Name, what, pair[0], pair[1])
			}
		}
		for h, b := range again {
			if !bytes.Equal(kept[h], b) {
				t.Errorf("%s: content %s does not match its checksum", c.Name, h)
			}
		}
	}
}

const valid = `{"id":"jp-c17528832001","projection":"projected","later":true,` +
	`"metadata":{"last_activated_at":"2025-07-19 00:00:00.0"},"base_config":{},"events":[]}`

func TestRead(t *testing.T) {
	all, err := envelope.Read(strings.NewReader(valid + "\n\n" +
		strings.NewReplacer("32001", "32002", `"later"`, `"version":1,"later"`).Replace(valid)))
	if err != nil || len(all) != 2 || all[0].ID != 17528832001 || all[1].ID != 17528832002 {
		t.Errorf("%v, %v", all, err)
	}
}

func TestReadRefuses(t *testing.T) {
	ref := strings.Repeat("0", 64)
	for what, line := range map[string]string{
		"another version":    strings.Replace(valid, `"later"`, `"version":2,"later"`, 1),
		"a version as text":  strings.Replace(valid, `"later"`, `"version":"1","later"`, 1),
		"no projection":      strings.Replace(valid, `"projected"`, `""`, 1),
		"another projection": strings.Replace(valid, `"projected"`, `"ext"`, 1),
		"no id":              strings.Replace(valid, `"jp-c17528832001"`, `""`, 1),
		"no metadata":        strings.Replace(valid, `"metadata"`, `"meta"`, 1),
		"no events":          strings.Replace(valid, `[]`, `null`, 1),
		"an id of zero":      strings.Replace(valid, `"jp-c17528832001"`, `"0"`, 1),
		"another spelling":   strings.Replace(valid, `"jp-c17528832001"`, `"017528832001"`, 1),
		"a number as event":  strings.Replace(valid, `[]`, `[5]`, 1),
		"an empty event":     strings.Replace(valid, `[]`, `[{}]`, 1),
		"a number too large": strings.Replace(valid, `[]`, `[{"type":"x","a":1e999}]`, 1),
		"another's session": strings.Replace(valid, `"metadata":{`,
			`"metadata":{"labels":{"agent-session":"codex-x"},`, 1),
		"another base": strings.Replace(valid, `"base_config":{}`, `"base_config":[]`, 1),
		"a missing content": strings.Replace(valid, `[]`,
			`[{"type":"x","data":{"$blob":"`+ref+`","size":1}}]`, 1),
		"another content": strings.Replace(valid, `"later":true`,
			`"git_jp_contents":{"`+ref+`":"eA=="}`, 1),
		"the same id twice": valid + "\n" + valid,
		"half a line":       valid[:len(valid)-9],
	} {
		if all, err := envelope.Read(strings.NewReader(line)); err == nil || all != nil {
			t.Errorf("%s: %v, %v", what, all, err)
		} else if !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v names no line", what, err)
		}
	}
}

// TestWriteWithoutContent checks that a missing blob fails the export: an incomplete conversation
// is not written.
func TestWriteWithoutContent(t *testing.T) {
	all, _ := recorded(t)
	missing := errors.New("missing")
	for _, c := range all {
		refs, err := events.References(c.Stream.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if len(refs) == 0 {
			continue
		}
		var out bytes.Buffer
		err = envelope.Write(&out, &envelope.Envelope{
			Details: c.Details, Stream: c.Stream,
		}, failing{missing})
		if !errors.Is(err, missing) || out.Len() > 0 {
			t.Errorf("%s: %v and %d bytes", c.Name, err, out.Len())
		}
	}
}

type failing struct{ err error }

func (f failing) Read(blobs.Ref) ([]byte, error) { return nil, f.err }

func FuzzRead(f *testing.F) {
	f.Add([]byte(valid))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := envelope.Read(bytes.NewReader(data))
		if err != nil && all != nil {
			t.Error("envelopes beside an error")
		}
		for _, e := range all {
			var out bytes.Buffer
			if err := envelope.Write(&out, e, reader{e.Contents}); err != nil {
				t.Errorf("what was read cannot be written: %v", err)
			}
		}
	})
}
