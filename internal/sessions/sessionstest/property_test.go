package sessionstest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// write writes data to a file in a directory.
func write(t testing.TB, dir, name string, data []byte) string {
	t.Helper()
	out := filepath.Join(dir, name)
	if err := os.WriteFile(out, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

// cuts returns where a session is cut: at the end and in the middle of each record; in a large
// session at some of these, so that about a megabyte is read for each session.
func cuts(data []byte) (all []int) {
	at := 0
	for line := range bytes.Lines(data) {
		all = append(all, at+len(line)/2, at+len(line))
		at += len(line)
	}
	read := 1 << 20
	if os.Getenv("GIT_JP_SOAK") != "" {
		read = 192 << 20
	}
	step := 1 + len(all)*len(data)/read
	step += 1 - step%2 // so that both kinds of cuts are among them
	kept := all[:0]
	for i := 0; i < len(all); i += step {
		kept = append(kept, all[i])
	}
	return kept
}

// TestCut imports prefixes of sessions: up to each record, and up to the middle of each. A
// truncated file gives the same as the complete file read up to that length.
func TestCut(t *testing.T) {
	samples(t, func(t *testing.T, a agent, path string) {
		if filepath.Ext(path) != ".jsonl" {
			return
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		whole := write(t, dir, "whole.jsonl", data)
		for _, end := range cuts(data) {
			cut := write(t, dir, "cut.jsonl", data[:end])
			all, kept, err := sessionstest.Try(a.dialect, cut, 0)
			if errors.Is(err, sessionstest.ErrNone) {
				continue // not recognizable yet
			}
			if err != nil {
				t.Fatalf("cut at %d: %v", end, err)
			}
			grown, its := sessionstest.Import(t, a.dialect, whole, int64(end))
			want, got := sessionstest.Outline(t, all, kept), sessionstest.Outline(t, grown, its)
			if got != want {
				t.Fatalf("%d bytes of it read otherwise than the file cut there: %s", end, cmp.Diff(want, got))
			}
		}
	})
}

// A place is a member of a record of a session.
type place struct {
	agent  agent
	record object
	number int // of the line
	member string
	with   func(v any) (path string) // the session with another value there
}

// places calls f for the members of the records of all sessions, once for each type of record.
func places(t *testing.T, f func(t *testing.T, p place)) {
	t.Helper()
	seen := map[string]bool{}
	samples(t, func(t *testing.T, a agent, path string) {
		if !ours(path) {
			return
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		dir, lines := t.TempDir(), bytes.SplitAfter(data, []byte("\n"))
		for i, line := range lines {
			var o object
			if json.Unmarshal(line, &o) != nil {
				continue
			}
			for _, member := range members(o, "") {
				id := a.name + o.text("type") + o.in("payload").text("type") + member
				if seen[id] {
					continue
				}
				seen[id] = true
				f(t, place{a, o, i + 1, member, func(v any) string {
					changed := slices.Clone(lines)
					changed[i] = with(line, strings.Split(member, "/"), v)
					return write(t, dir, "changed.jsonl", bytes.Join(changed, nil))
				}})
			}
		}
	})
}

// TestOtherTypes imports sessions with members that have unexpected types or are missing. No record
// hides another. A short run has every other type for each member.
func TestOtherTypes(t *testing.T) {
	tried := 0
	places(t, func(t *testing.T, p place) {
		tried++
		for i, v := range []any{-7.5, "x", []any{true}, object{"type": 3.0}} {
			if os.Getenv("GIT_JP_SOAK") == "" && (tried+i)%2 != 0 {
				continue
			}
			all, _, err := sessionstest.Try(p.agent.dialect, p.with(v), 0)
			if err != nil && !errors.Is(err, sessionstest.ErrNone) {
				t.Errorf("line %d, %s = %v: %v", p.number, p.member, v, err)
			}
			for _, c := range all {
				for _, b := range c.Report.Broken {
					t.Errorf("%s = %v breaks line %d: %v", p.member, v, b.Number, b.Err)
				}
			}
		}
	})
}

// saying matches the members in which agents write texts.
var saying = map[string]*regexp.Regexp{
	"claude-code": regexp.MustCompile(
		`^(message|message/content(/(text|thinking|content|input))?|attachment(/prompt)?)$`),
	"codex": regexp.MustCompile(`^(payload|(payload/)?(content(/text)?|summary|arguments|output)|` +
		`payload/(message|text|input|action|images|result))$`),
	"copilot": regexp.MustCompile(
		`^(data|data/(content|toolRequests|reasoningBlocks|attachments|result|error))$`),
	"gemini": regexp.MustCompile(
		`^(content(/text)?|thoughts(/description)?|toolCalls(/(args|result))?)$`),
}

// TestOddIsKept imports sessions in which a text has an unexpected form: its value is in a
// conversation or in a record.
func TestOddIsKept(t *testing.T) {
	tried := 0
	places(t, func(t *testing.T, p place) {
		said := saying[p.agent.name]
		if said == nil || !said.MatchString(p.member) {
			return
		}
		for _, v := range odd(p.record, strings.Split(p.member, "/")) {
			tried++
			all, kept, err := sessionstest.Try(p.agent.dialect, p.with(v), 0)
			if err == nil && !has(all, kept, mark) {
				t.Errorf("line %d, %s = %v is lost", p.number, p.member, v)
			}
		}
	})
	if tried == 0 {
		t.Error("nothing was tried")
	}
}

const mark = "QZJX, somebody said"

// odd returns values of other types than the member has. An object in place of an object only has
// another member.
func odd(o map[string]any, path []string) []any {
	v := any(o)
	for _, name := range path {
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
		}
		inner, _ := v.(map[string]any)
		v = inner[name]
	}
	all := []any{[]any{mark}}
	if _, ok := v.(map[string]any); !ok {
		all = append(all, object{"type": mark})
	}
	return all
}

// has reports whether a text occurs anywhere in conversations.
func has(all []*sessions.Conversation, kept sessionstest.Contents, text string) bool {
	for _, content := range kept {
		if bytes.Contains(content, []byte(text)) {
			return true
		}
	}
	for _, c := range all {
		for _, e := range c.Stream.All() {
			if strings.Contains(fmt.Sprintf("%+v %s", e.Event(), e.Raw()), text) {
				return true
			}
			if call, ok := e.Event().(*events.ToolCallRequest); ok &&
				bytes.Contains(call.Arguments, []byte(text)) {
				return true
			}
		}
	}
	return false
}

// members returns the paths of the members of an object, and of the first element of each list.
func members(o object, prefix string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if strings.Contains(name, "/") {
			continue
		}
		all = append(all, prefix+name)
		inner, _ := o[name].(map[string]any)
		if list, _ := o[name].([]any); len(list) > 0 {
			inner, _ = list[0].(map[string]any)
		}
		all = append(all, members(inner, prefix+name+"/")...)
	}
	return all
}

// with returns a record with another value for a member.
func with(line []byte, path []string, v any) []byte {
	var o map[string]any
	if json.Unmarshal(line, &o) != nil {
		return line
	}
	at := o
	for _, name := range path[:len(path)-1] {
		next, _ := at[name].(map[string]any)
		if list, _ := at[name].([]any); len(list) > 0 {
			next, _ = list[0].(map[string]any)
		}
		at = next
	}
	at[path[len(path)-1]] = v
	out, err := json.Marshal(o)
	if err != nil {
		return line
	}
	return append(out, '\n')
}

// edited returns a change of each record of a session.
func edited(edit func(i, n int, o map[string]any)) func(lines [][]byte) [][]byte {
	return func(lines [][]byte) (out [][]byte) {
		for i, line := range lines {
			var o map[string]any
			if json.Unmarshal(line, &o) != nil {
				continue
			}
			edit(i, len(lines), o)
			line, err := json.Marshal(o)
			if err != nil {
				continue // it was parsed before
			}
			out = append(out, append(line, '\n'))
		}
		return out
	}
}

// TestDamage imports sessions whose records are repeated, reordered, have other times, are mixed
// with lines that are no JSON, have no names or all the same one, have each other as parents, or
// are of unknown kinds.
func TestDamage(t *testing.T) {
	damages := map[string]func(lines [][]byte) [][]byte{
		"twice": func(lines [][]byte) [][]byte { return slices.Concat(lines, lines) },
		"backwards": func(lines [][]byte) [][]byte {
			rest := slices.Clone(lines[1:])
			slices.Reverse(rest)
			return append(lines[:1:1], rest...)
		},
		"nameless": edited(func(i, _ int, o map[string]any) {
			if i > 0 {
				delete(o, "id")
			}
			delete(o, "uuid")
			delete(o, "parentUuid")
		}),
		"one name": edited(func(i, _ int, o map[string]any) {
			for _, name := range []string{"uuid", "id", "parentUuid"} {
				if o[name] != nil && i > 0 {
					o[name] = "ffffffff-ffff-4fff-8fff-ffffffffffff"
				}
			}
		}),
		"cycles": edited(func(i, n int, o map[string]any) {
			if o["uuid"] != nil {
				o["uuid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
				o["parentUuid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", (i+i%3)%n)
			}
		}),
		"clocks": edited(func(i, _ int, o map[string]any) {
			if o["timestamp"] != nil {
				o["timestamp"] = time.Unix(int64(2e9-i*1000), 0).UTC().Format(time.RFC3339)
			}
		}),
		"timeless": edited(func(_, _ int, o map[string]any) { delete(o, "timestamp") }),
		"unknown": edited(func(i, _ int, o map[string]any) {
			if i%3 == 1 {
				o["type"] = "later"
			}
		}),
		"broken": func(lines [][]byte) (out [][]byte) {
			for _, l := range lines {
				out = append(out, l, l[:len(l)/2], []byte("\n\n\x00\n[1,2]\n\"x\"\n"))
			}
			return out
		},
	}
	samples(t, func(t *testing.T, a agent, path string) {
		if !ours(path) {
			return
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, damage := range damages {
			changed := bytes.Join(damage(bytes.SplitAfter(data, []byte("\n"))), nil)
			into := write(t, t.TempDir(), name+".jsonl", changed)
			_, _, err := sessionstest.Try(a.dialect, into, 0)
			if err != nil && !errors.Is(err, sessionstest.ErrNone) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestPacked checks that sessions compressed as Codex does it read as the plain ones.
func TestPacked(t *testing.T) {
	samples(t, func(t *testing.T, a agent, path string) {
		if !ours(path) || filepath.Ext(path) != ".jsonl" || a.name == "gemini" {
			return
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		enc, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		all, kept := sessionstest.Import(t, a.dialect, write(t, t.TempDir(), "s.jsonl", data), 0)
		packed := write(t, t.TempDir(), "s.jsonl.zst", enc.EncodeAll(data, nil))
		same, its := sessionstest.Import(t, a.dialect, packed, 0)
		want, got := sessionstest.Outline(t, all, kept), sessionstest.Outline(t, same, its)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
