package sessionstest_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/sessions/copilot"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
	"github.com/klauspost/compress/zstd"
)

// A script writes sessions of one agent, one record a line. The text x in a record is replaced.
type script struct {
	agent
	begin  string
	prompt string // with a number
	answer string // with a number
	result string // of a call, with a number
	other  string // of an unknown kind, with a number
}

func scripts() []script {
	const (
		claudeLine = `{"type":%s,"uuid":"%s-0000-4000-8000-%%012d","sessionId":"s","cwd":"/p","timestamp":"2026-01-01T00:00:00Z","message":%s}`
		codexLine  = `{"timestamp":"2026-01-01T00:00:00Z","type":%q,"payload":%s}`
		copiloted  = `{"type":%q,"id":"%s-0000-4000-8000-%%012d","timestamp":"2026-01-01T00:00:00Z","data":%s}`
		geminied   = `{"id":"%s-0000-4000-8000-%%012d","timestamp":"2026-01-01T00:00:00Z",%s}`
		one, two   = "00000001", "00000002"
		three      = "00000003"
	)
	return []script{
		{
			agents[0], "",
			fmt.Sprintf(claudeLine, `"user"`, one, `{"content":"x"}`),
			fmt.Sprintf(claudeLine, `"assistant"`, two, `{"id":"m","content":[{"type":"text","text":"x"}]}`),
			fmt.Sprintf(claudeLine, `"user"`, three, `{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}`),
			fmt.Sprintf(claudeLine, `"later"`, one, `"x"`),
		},
		{
			agents[1], `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/p"}}`,
			fmt.Sprintf(codexLine, "event_msg", `{"type":"user_message","message":"%d x"}`),
			fmt.Sprintf(codexLine, "response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%d x"}]}`),
			fmt.Sprintf(codexLine, "response_item", `{"type":"function_call_output","call_id":"%d","output":"x"}`),
			fmt.Sprintf(codexLine, "later", `{"n":%d,"text":"x"}`),
		},
		{
			agents[2], `{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00Z"}`,
			fmt.Sprintf(geminied, one, `"type":"user","content":"x"`),
			fmt.Sprintf(geminied, two, `"type":"gemini","content":"x"`),
			fmt.Sprintf(geminied, three, `"type":"gemini","toolCalls":[{"id":"t","name":"n","result":"x"}]`),
			fmt.Sprintf(geminied, one, `"type":"later","content":"x"`),
		},
		{
			agents[3], `{"type":"session.start","id":"s","data":{"sessionId":"s","producer":"copilot-agent"}}`,
			fmt.Sprintf(copiloted, "user.message", one, `{"content":"x"}`),
			fmt.Sprintf(copiloted, "assistant.message", two, `{"content":"x"}`),
			fmt.Sprintf(copiloted, "tool.execution_complete", three, `{"toolCallId":"t","success":true,"result":{"content":"x"}}`),
			fmt.Sprintf(copiloted, "later", one, `{"text":"x"}`),
		},
	}
}

// file writes a session of records, with text in place of x, until it has size bytes. It begins
// with a prompt.
func (s script) file(t testing.TB, size int64, text string, records ...string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "s.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriterSize(f, 1<<20)
	var at int64
	line := func(record string, n int) {
		if strings.Contains(record, "%") {
			record = fmt.Sprintf(record, n)
		}
		wrote, _ := out.WriteString(record + "\n")
		at += int64(wrote)
	}
	if s.begin != "" {
		line(s.begin, 0)
	}
	line(s.prompt, 0)
	for i, r := range records {
		records[i] = strings.Replace(r, "x\"", text+"\"", 1)
	}
	for n := 1; at < size; n++ {
		line(records[n%len(records)], n)
	}
	if err := errors.Join(out.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// A sink discards contents, and measures the most memory in use during the writes.
type sink struct {
	wrote, since int64
	most         uint64
}

// Write implements [events.Writer].
func (s *sink) Write(b []byte) (blobs.Ref, error) {
	s.wrote += int64(len(b))
	if s.since += int64(len(b)); s.since > 4<<20 {
		s.since = 0
		s.look()
	}
	return blobs.RefTo(b), nil
}

func (s *sink) look() {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.most = max(s.most, m.HeapAlloc)
}

// read imports a session with the limits of workspaces, and returns the additional memory that it
// used.
func (a agent) read(t testing.TB, path string, o sessions.Options) (most int64, err error) {
	t.Helper()
	all, err := a.dialect.List(t.Context(), path)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	before, during := &sink{}, &sink{}
	before.look()
	o.Writer = during
	b := sessions.NewBuilder(all[0], o)
	v, err := a.dialect.Read(t.Context(), all[0], 0, b)
	if err == nil {
		_, err = b.Finish(v)
	}
	during.look()
	runtime.KeepAlive(b)
	return int64(during.most) - int64(before.most), err
}

// size returns a file size that is too large for memory: 1 GB in the long run.
func size() int64 {
	if os.Getenv("GIT_JP_SOAK") != "" {
		return 1 << 30
	}
	return 48 << 20
}

// TestMemoryIsBounded imports files that are larger than the limits: results and unknown records of
// one turn, which are stored as blobs; answers and prompts, which are refused by name.
func TestMemoryIsBounded(t *testing.T) {
	const blob, stream = 4 << 20, 8 << 20
	for _, s := range scripts() {
		if s.name == "gemini" {
			continue // a fold needs the complete session; see TestFoldIsBounded
		}
		for _, test := range []struct {
			name, record string
			text         int // length in bytes
			want         error
		}{
			{"results", s.result, 1 << 20, nil},
			{"others", s.other, 100 << 10, nil},
			{"answers", s.answer, 10 << 10, sessions.ErrTooLarge},
			{"prompts", s.prompt, 10 << 10, sessions.ErrTooLarge},
		} {
			t.Run(s.name+"/"+test.name, func(t *testing.T) {
				path := s.file(t, size(), strings.Repeat("y", test.text), test.record)
				most, err := s.read(t, path, sessions.Options{MaxBlob: blob, MaxStream: stream})
				if !errors.Is(err, test.want) {
					t.Fatalf("error is %v, want %v", err, test.want)
				}
				if limit := int64(4 * stream); most > limit {
					t.Errorf("it held %d bytes, want %d at most", most, limit)
				}
			})
		}
	}
}

// TestFewRecordsInMemory measures the memory for small records, the most frequent kind.
func TestFewRecordsInMemory(t *testing.T) {
	for _, s := range scripts() {
		if s.name == "gemini" {
			continue
		}
		path := s.file(t, size()/16, "y", s.other)
		most, err := s.read(t, path, sessions.Options{MaxBlob: 1 << 20, MaxStream: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		records := size() / 16 / int64(len(s.other))
		if limit := 640*records + 16<<20; most > limit {
			t.Errorf("%s held %d bytes, want %d at most", s.name, most, limit)
		}
	}
}

// TestManyLines checks that a file with more lines than records may be in memory is refused by
// name, whatever the lines have: reading some hundred megabytes of empty lines took minutes.
func TestManyLines(t *testing.T) {
	for i, s := range scripts() {
		for j, line := range []string{"", "[]"} {
			if i%2 != j && os.Getenv("GIT_JP_SOAK") == "" {
				continue
			}
			t.Run(fmt.Sprintf("%s/%q", s.name, line), func(t *testing.T) {
				const lines = 1<<20 + 1
				path := s.file(t, 1, "x", s.answer)
				f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
				if err == nil {
					_, err = io.WriteString(f, strings.Repeat(line+"\n", lines))
				}
				if err := errors.Join(err, f.Close()); err != nil {
					t.Fatal(err)
				}
				if _, err = s.read(t, path, sessions.Options{}); !errors.Is(err, sessions.ErrManyKeys) {
					t.Errorf("reading gives %v, want %v", err, sessions.ErrManyKeys)
				}
			})
		}
	}
}

// TestManyValues checks that a record with too many values, each of which would take hundreds of
// bytes of memory, is reported, and that the others are imported.
func TestManyValues(t *testing.T) {
	for _, s := range scripts() {
		t.Run(s.name, func(t *testing.T) {
			many := `"content":["x"` + strings.Repeat(",{}", 1<<17) + `]`
			record := strings.Replace(fmt.Sprintf(s.prompt, 1), `"content":"x"`, many, 1)
			if !strings.Contains(record, many) {
				record = strings.TrimSuffix(record, "}") + `,` + many + `}`
			}
			path := s.file(t, 1<<19, "x", s.answer, record) // record, answer, record
			all, err := s.dialect.List(t.Context(), path)
			if err != nil || len(all) != 1 {
				t.Fatalf("%d sessions, %v", len(all), err)
			}
			b := sessions.NewBuilder(all[0], sessions.Options{Writer: &sink{}})
			v, err := s.dialect.Read(t.Context(), all[0], 0, b)
			if err != nil {
				t.Fatal(err)
			}
			made, err := b.Finish(v)
			if err != nil {
				t.Fatal(err)
			}
			if r := made[0].Report; len(r.Broken) != 2 || r.Answers != 1 {
				t.Errorf("%d lines are told and %d answers there, want 2 and 1",
					len(r.Broken), r.Answers)
			}
		})
	}
}

// TestLongLines checks that a line that is too long is reported, and that the others are imported.
func TestLongLines(t *testing.T) {
	long := bytes.Repeat([]byte("y"), sessions.MaxLine+2<<20)
	for _, s := range scripts() {
		path := s.file(t, 1<<10, "y", s.answer)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole, _ := sessionstest.Import(t, s.dialect, path, 0)
		if s.name == "gemini" {
			continue // does not compress
		}
		begin, rest, _ := bytes.Cut(data, []byte("\n"))
		packed := filepath.Join(t.TempDir(), "s.jsonl.zst")
		f, err := os.Create(packed)
		if err != nil {
			t.Fatal(err)
		}
		enc, err := zstd.NewWriter(f)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(enc, io.MultiReader(
			bytes.NewReader(begin), strings.NewReader("\n{\"a\":\""), bytes.NewReader(long),
			strings.NewReader("\"}\n"), bytes.NewReader(rest)))
		if err := errors.Join(err, enc.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		all, _ := sessionstest.Import(t, s.dialect, packed, 0)
		if broken := all[0].Report.Broken; len(broken) != 1 || broken[0].Number != 2 {
			t.Errorf("%s: broken are %v", s.name, broken)
		}
		if got, want := sessionstest.CountOf(all), sessionstest.CountOf(whole); got != want {
			t.Errorf("%s: got %+v, want %+v", s.name, got, want)
		}
	}
}

// TestBombs imports a file of some kilobytes that decompresses to too much: to one endless line,
// and to endless lines.
func TestBombs(t *testing.T) {
	if os.Getenv("GIT_JP_SOAK") == "" {
		t.Skip("it unpacks 8 GiB")
	}
	for name, unit := range map[string]string{"line": "yyyyyyyy", "lines": "[1,2,3]\n"} {
		path := filepath.Join(t.TempDir(), name+".jsonl.zst")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		enc, err := zstd.NewWriter(f)
		if err != nil {
			t.Fatal(err)
		}
		s := scripts()[1]
		_, err = io.WriteString(enc, s.begin+"\n")
		block := bytes.Repeat([]byte(unit), 1<<20/len(unit))
		for range sessions.MaxUnpacked/len(block) + 1 {
			_, more := enc.Write(block)
			err = errors.Join(err, more)
		}
		if err := errors.Join(err, enc.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		most, err := s.read(t, path, sessions.Options{MaxBlob: 1 << 20, MaxStream: 8 << 20})
		if !errors.Is(err, sessions.ErrUnpacked) {
			t.Errorf("%s: error is %v, want %v", name, err, sessions.ErrUnpacked)
		}
		if limit := int64(2 * sessions.MaxLine); most > limit {
			t.Errorf("%s: it held %d bytes, want %d at most", name, most, limit)
		}
	}
}

// TestManySubagents imports a session with ten thousand sub-agents in its file: by name, and by the
// chain of their records.
func TestManySubagents(t *testing.T) {
	const n = 10_000
	var named, chained, copiloted strings.Builder
	fmt.Fprintf(&named, scripts()[0].prompt+"\n", 0)
	fmt.Fprintf(&chained, scripts()[0].prompt+"\n", 0)
	fmt.Fprintln(&copiloted, scripts()[3].begin)
	for i := range n {
		for _, named := range []struct {
			out  io.Writer
			name string
		}{{&named, fmt.Sprintf(`"agentId":"a%d",`, i)}, {&chained, ""}} {
			const line = `{"type":%q,"uuid":"00000000-0000-4000-8000-%06d%06d","parentUuid":%q,%s"isSidechain":true,"sessionId":"s","message":{"content":"x"}}` + "\n"
			first := fmt.Sprintf("00000000-0000-4000-8000-%06d%06d", i, 1)
			fmt.Fprintf(named.out, line, "user", i, 1, "", named.name)
			fmt.Fprintf(named.out, line, "assistant", i, 2, first, named.name)
		}
		fmt.Fprintf(&copiloted,
			`{"type":"user.message","id":"e%d","agentId":"a%d","data":{"content":"x"}}`+"\n", i, i)
	}
	for name, test := range map[string]struct {
		d    sessions.Dialect
		data string
	}{
		"claude-code, named":   {claude.Dialect{}, named.String()},
		"claude-code, chained": {claude.Dialect{}, chained.String()},
		"copilot":              {copilot.Dialect{}, copiloted.String()},
	} {
		path := write(t, t.TempDir(), "s.jsonl", []byte(test.data))
		all, _ := sessionstest.Import(t, test.d, path, 0)
		if len(all) != n+1 {
			t.Errorf("%s: there are %d conversations, want %d", name, len(all), n+1)
		}
	}
}

// TestFoldIsBounded checks that a session of Gemini CLI that is too large for memory is refused.
func TestFoldIsBounded(t *testing.T) {
	if os.Getenv("GIT_JP_SOAK") == "" {
		t.Skip("it writes 600 MB")
	}
	s := scripts()[2]
	path := s.file(t, 600<<20, strings.Repeat("y", 1<<20), s.answer)
	_, err := s.read(t, path, sessions.Options{MaxBlob: 1 << 20, MaxStream: 8 << 20})
	if err == nil || !strings.Contains(err.Error(), "512 MiB") {
		t.Errorf("error is %v", err)
	}
}
