package query_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/realdata"
)

// A chooser returns a number below n.
type chooser func(n int) int

func (c chooser) from(list []string) string { return list[c(len(list))] }

// A change changes an answer, which is given as the lines of its events.
type change func(c chooser, lines []string) []string

// changes are transmission errors, and deviations of servers that are nearly compatible.
var changes = map[string]change{
	"drop": func(c chooser, lines []string) []string {
		i := c(len(lines))
		return slices.Delete(lines, i, i+1)
	},
	"repeat": func(c chooser, lines []string) []string {
		i := c(len(lines))
		return slices.Insert(lines, i, lines[i])
	},
	"reorder": func(c chooser, lines []string) []string {
		i, j := c(len(lines)), c(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
		return lines
	},
	"cut": func(c chooser, lines []string) []string {
		i := c(len(lines))
		lines[i] = lines[i][:c(len(lines[i])+1)]
		return lines[:i+1]
	},
	"unknown": func(c chooser, lines []string) []string {
		return slices.Insert(lines, c(len(lines)+1), "data: "+c.from([]string{
			`{}`, `null`, `[]`, `{"type":"ping"}`, `{"type":"new","index":0,"delta":{"type":"x","text":"y"}}`,
			`{"choices":[]}`, `{"candidates":[{"index":7}]}`, `{"message":{"role":"other","images":["x"]}}`,
			`{"type":"content_block_start","index":9,"content_block":{"type":"later","id":"z"}}`,
			`{"type":"response.output_item.added","output_index":9,"item":{"type":"later","id":"z"}}`,
			`{"type":"response.output_item.done","output_index":9,"item":{"type":"later","id":"z"}}`,
		}))
	},
	"value": func(c chooser, lines []string) []string {
		i := c(len(lines))
		lines[i] = changed(c, lines[i], nil, odd)
		return lines
	},
	"index": func(c chooser, lines []string) []string {
		i := c(len(lines))
		lines[i] = changed(c, lines[i], []string{"index", "output_index", "content_index"},
			[]string{"0", "1", "2", "-1", "99", "1048576", "null", `"0"`, "0.5"})
		return lines
	},
	"id": func(c chooser, lines []string) []string {
		i := c(len(lines))
		lines[i] = changed(c, lines[i], []string{"id", "item_id", "call_id"},
			[]string{`""`, `"t1"`, `"t2"`, `"rs_1"`, `"msg_1"`, `"fc_1"`, "null", "7", `"` + strings.Repeat("i", 70) + `"`})
		return lines
	},
	"type": func(c chooser, lines []string) []string {
		i := c(len(lines))
		lines[i] = changed(c, lines[i], []string{"type", "finish_reason", "stop_reason", "finishReason", "done_reason"},
			[]string{
				`"text"`, `"thinking"`, `"redacted_thinking"`, `"tool_use"`, `"server_tool_use"`, `"text_delta"`,
				`"thinking_delta"`, `"signature_delta"`, `"input_json_delta"`, `"citations_delta"`, `"message"`,
				`"reasoning"`, `"function_call"`, `"web_search_call"`, `"content_block_start"`,
				`"content_block_stop"`, `"message_delta"`, `"response.output_item.added"`,
				`"response.output_item.done"`, `"response.output_text.delta"`, `"later"`, `"length"`, `"stop"`,
				`"refusal"`, `"max_tokens"`, `"tool_use"`, `"pause_turn"`, `"compaction"`, `"STOP"`, `"MAX_TOKENS"`, `"SAFETY"`, "null", "7",
			})
		return lines
	},
}

// mutated changes an answer at some places, in the named ways.
func mutated(c chooser, answer string, names []string) string {
	end := "\n"
	if strings.Contains(answer, sep) {
		end = sep
	}
	lines := strings.SplitAfter(strings.TrimSuffix(answer, end), end)
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], "\r\n")
	}
	for range 1 + c(4) {
		if len(lines) > 0 {
			lines = changes[c.from(names)](c, lines)
		}
	}
	return strings.Join(lines, end) + end
}

// changed replaces one value in an event, of any member or of a named one.
func changed(c chooser, line string, named, values []string) string {
	at := strings.IndexByte(line, '{')
	if at < 0 {
		return line
	}
	dec := json.NewDecoder(strings.NewReader(line[at:]))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return line
	}
	w := placer{named: named, left: -1}
	w.write(v, "")
	if w.places == 0 {
		return line
	}
	w = placer{named: named, left: c(w.places), raw: c.from(values)}
	w.write(v, "")
	return line[:at] + w.String()
}

// A placer writes a value, with raw in place of one of its parts.
type placer struct {
	bytes.Buffer
	named  []string
	raw    string
	left   int // places before it
	places int // so far
}

func (w *placer) write(v any, member string) {
	if w.named == nil || slices.Contains(w.named, member) {
		w.places++
		if w.places-1 == w.left {
			w.WriteString(w.raw)
			return
		}
	}
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		w.WriteByte('{')
		for i, name := range names {
			fmt.Fprintf(w, "%s%q:", []string{"", ","}[min(i, 1)], name)
			w.write(v[name], name)
		}
		w.WriteByte('}')
	case []any:
		w.WriteByte('[')
		for i, e := range v {
			w.WriteString([]string{"", ","}[min(i, 1)])
			w.write(e, member)
		}
		w.WriteByte(']')
	default:
		data, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		w.Write(data)
	}
}

// odd are values that servers have sent, or could send.
var odd = []string{
	`""`, `" "`, `null`, `0`, `1`, `-1`, `7`, `1e400`, `NaN`, `true`, `{}`, `[]`, `{"n":1e400}`, `{"n":1,"n":2}`,
	`"{\"n\":1e400}"`, `"{\"n\":NaN}"`, `"{\"n\":1,\"n\":2}"`, `"{\"n\":\"\\ud800\"}"`, `"[1]"`, `"{"`, `"null"`,
	`"\ud800"`, `"\u0000"`, "\"\xff\"", `"t1"`, `"` + strings.Repeat("x", 200) + `"`, `"a b/c"`, `"wait"`,
	`"text"`, `"thinking"`, `"tool_use"`, `"message"`, `"reasoning"`, `"function_call"`, `"length"`,
	`"` + strings.Repeat(`{\"a\":`, 200) + `1` + strings.Repeat(`}`, 200) + `"`,
	strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200),
}

// A sample is an answer that is changed.
type sample struct {
	name, answer string
	dialect      dialect
	// words are in the unchanged answer once each.
	words []string
}

// written returns the complete answers of all dialects.
func written() (all []sample) {
	for name, w := range dialects {
		all = append(all, sample{name, w.answer, w, []string{"so", "I look."}})
	}
	for _, c := range compactors {
		all = append(all, sample{c.dialect + ", compacted", c.answer, dialects[c.dialect], nil})
	}
	slices.SortFunc(all, func(a, b sample) int { return strings.Compare(a.name, b.name) })
	return all
}

// samples returns the written answers, each repeated so that together they are as frequent as the
// recorded ones, if those are present.
func samples(t testing.TB) (all []sample) {
	data, ok := realdata.Find()
	if !ok {
		return written()
	}
	for _, at := range [][2]string{
		{"anthropic", "anthropic"}, {"openai", "responses"}, {"ollama", "ollama"},
	} {
		for _, s := range recorded(t, filepath.Join(data, "cassettes", at[0]), dialects[at[1]]) {
			all = append(append(all, written()...), s)
		}
	}
	return all
}

func recorded(t testing.TB, dir string, w dialect) (all []sample) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for i, e := range llmtest.Cassette(t, f) {
			if e.Method == http.MethodPost && len(e.Body) < 16<<10 {
				all = append(all, sample{fmt.Sprintf("%s %d", f, i), string(e.Body), w, nil})
			}
		}
	}
	return all
}

// try checks that a changed answer can be saved and the conversation continued, and that nothing is
// saved more often than it was sent.
func try(t fataler, c chooser, s sample) {
	names := []string{"drop", "repeat", "reorder", "cut", "unknown"} // these leave the text unchanged
	ordered := c(2) == 0
	if !ordered {
		names = append(names, "value", "index", "id", "type")
	}
	answer := mutated(c, s.answer, names)
	stream := survives(t, s.dialect, answer)
	if ordered {
		unrepeated(t, s, answer, stream)
	}
}

// unrepeated checks that each word is saved at most as often as it is in the answer. An answer that
// sends it in fragments and then complete has it once.
func unrepeated(t fataler, s sample, answer string, stream *events.Stream) {
	var said strings.Builder
	for _, e := range stream.All() {
		if r, ok := e.Event().(*events.ChatResponse); ok {
			said.WriteString(r.Text + "\n")
		}
	}
	for _, word := range s.words {
		fragments, wholes := 0, 0
		for line := range strings.Lines(answer) {
			switch {
			case !strings.Contains(line, `"`+word+`"`):
			case strings.Contains(line, "output_item.done"):
				wholes++
			default:
				fragments++
			}
		}
		if n := strings.Count(said.String(), word); n > max(fragments, wholes) {
			t.Fatalf("%q, sent %d times, is kept %d times as\n%s\nafter\n%s",
				word, max(fragments, wholes), n, said.String(), answer)
		}
	}
}

// A trial is one of many cases; its errors say how to repeat it.
type trial struct {
	testing.TB
	seed, n uint64
}

func (t trial) Fatalf(format string, args ...any) {
	t.Helper()
	t.TB.Fatalf("seed %d, mutation %d: %s", t.seed, t.n, fmt.Sprintf(format, args...))
}

// TestWhateverIsAnsweredGoesOn checks that no answer of a provider makes a conversation one that
// cannot be loaded or continued: nothing hangs, panics or is saved twice. The short run has the
// same mutations each time; the long run tries a million from a seed that it logs.
func TestWhateverIsAnsweredGoesOn(t *testing.T) {
	all, seed, n := samples(t), uint64(1), uint64(4000)
	if os.Getenv("GIT_JP_SOAK") != "" {
		seed, n = uint64(time.Now().UnixNano()), 1_000_000
	}
	t.Logf("seed %d, %d mutations of %d answers", seed, n, len(all))
	const workers = 4
	for i := range uint64(workers) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for k := i; k < n; k += workers {
				r := rand.New(rand.NewPCG(seed, k))
				try(trial{t, seed, k}, r.IntN, all[k%uint64(len(all))])
			}
		})
	}
}

// FuzzAnswers lets the fuzzer choose the mutations.
func FuzzAnswers(f *testing.F) {
	all := samples(f)
	for i := range written() {
		f.Add(uint16(i), []byte("0123456789abcdef"))
	}
	f.Fuzz(func(t *testing.T, which uint16, choices []byte) {
		try(t, func(n int) int {
			if len(choices) < 2 || n == 0 {
				return 0
			}
			v := int(choices[0]) | int(choices[1])<<8
			choices = choices[2:]
			return v % n
		}, all[int(which)%len(all)])
	})
}

// FuzzReaders feeds arbitrary bytes to the reader of each adapter.
func FuzzReaders(f *testing.F) {
	all := written()
	for i, s := range all {
		f.Add(uint8(i), []byte(s.answer))
	}
	f.Fuzz(func(t *testing.T, which uint8, answer []byte) {
		survives(t, all[int(which)%len(all)].dialect, string(answer))
	})
}
