package query

import (
	"bytes"
	"compress/zlib"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/go-json-experiment/json/jsontext"
)

// TestPromptTokensAreABound compares the bound with what published tokenizers count, the most of
// three, for texts that are repeated a hundred times: text of every sort, of which much is denser
// than prose.
func TestPromptTokensAreABound(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		tokens int64
	}{
		"code":     {"func (h *recorder) take(d llm.Delta) error {\n\th.watch.Delta(d)\n\tif b := h.open[d.Index]; b != nil {\n\t\tb.WriteString(d.Text)\n\t}\n\treturn nil\n}\n", 6400},
		"prose":    {"The server never truncates the conversation. It would do so silently, from the front. ", 1801},
		"hex":      {"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 ", 4401},
		"base64":   {"iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg== ", 6701},
		"numbers":  {"8192.4417,23.0091,7781.5530\n112.9003,4410.0071,9.3342\n", 3300},
		"ids":      {`{"id":"0b8f5c1e-6d1c-4d0e-9a77-2f3d6f5f9c11","n":17,"ok":true},`, 4501},
		"hexdump":  {"00000010: 7f45 4c46 0201 0100 0000 0000 0000 0000\n", 3100},
		"chinese":  {"我们今天讨论如何在仓库中保存对话以及它们的内容。", 2400},
		"russian":  {"Сегодня мы обсуждаем, как хранить разговоры. ", 2201},
		"thai":     {"วันนี้เราจะพูดถึงวิธีการเก็บบทสนทนา ", 6401},
		"arabic":   {"نناقش اليوم كيفية تخزين المحادثات. ", 3200},
		"amharic":  {"ዛሬ ውይይቶችን በማከማቻ ውስጥ እንዴት ማስቀመጥ እንደሚቻል። ", 10200},
		"emoji":    {"👩‍💻🎉🚀😀🇩🇪🧪", 2400},
		"minified": {`function a(b,c){return b.d(c)?e[f]:g(h,i)+"j"}`, 2600},
		"colours":  {"\u001b[31mERR\u001b[0m \u001b[1;32mok\u001b[0m 12ms\n", 2400},
		"letters":  {"a b c d e f g h i j k l m ", 1301},
	} {
		r := &llm.Request{Messages: []llm.Message{{Parts: []llm.Part{llm.Text{Text: strings.Repeat(c.text, 100)}}}}}
		if n := promptTokens(r); n < c.tokens || n > 3*c.tokens {
			t.Errorf("%s: the bound is %d, counted are %d", name, n, c.tokens)
		}
	}
}

// TestFramesCount checks the bound of requests that have little text, with what providers reported
// for such.
func TestFramesCount(t *testing.T) {
	hello := llm.Message{Parts: []llm.Part{llm.Text{Text: "Test message"}}}
	tool := llm.Tool{Name: "run_me", Schema: jsontext.Value(`{"type":"object","properties":{"foo":{"type":"string"}}}`)}
	for name, c := range map[string]struct {
		r     llm.Request
		least int64
	}{
		"a message":  {llm.Request{Messages: []llm.Message{hello}}, 38},
		"a tool":     {llm.Request{Messages: []llm.Message{hello}, Tools: []llm.Tool{tool}}, 691},
		"reasoning":  {llm.Request{Messages: []llm.Message{{Parts: []llm.Part{llm.Reasoning{}}}}}, 20},
		"many words": {llm.Request{Messages: make([]llm.Message, 1000)}, 8000},
	} {
		if n := promptTokens(&c.r); n < c.least || n > 1000+2*c.least {
			t.Errorf("%s: the bound is %d, reported were %d", name, n, c.least)
		}
	}
}

// TestPagesCount verifies that a document counts by its pages, whatever its size: also if they are
// in a compressed stream, and that the size counts if they cannot be found.
func TestPagesCount(t *testing.T) {
	page := "<</Type /Page/Parent 2 0 R>>\n"
	pages := "<< /Type/Pages /Count 40 >>\n" + strings.Repeat(page, 40)
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = w.Write([]byte(pages))
	_ = w.Close()
	for name, c := range map[string]struct {
		data        string
		usual, most int64
	}{
		"plain":      {"%PDF-1.4\n" + pages, 40 * pageTokens, 40 * mostPageTokens},
		"compressed": {"%PDF-1.5\n5 0 obj <</Type/ObjStm/Length 9>>stream\r\n" + packed.String() + "\nendstream", 40 * pageTokens, 40 * mostPageTokens},
		"hidden":     {"%PDF-1.5\n" + strings.Repeat("x", 1<<20), imageTokens, 1 << 19},
		"cut":        {"%PDF-1.5\n5 0 obj <</Type/ObjStm>>stream\n" + packed.String()[:5], imageTokens, mostPageTokens},
	} {
		usual, most := mediaTokens("application/pdf", []byte(c.data))
		if usual != c.usual || most < c.most || most > 2*c.most {
			t.Errorf("%s: %d and %d tokens, want %d and %d", name, usual, most, c.usual, c.most)
		}
	}
	if usual, most := mediaTokens("image/png", make([]byte, 1<<20)); usual != imageTokens || most != mostImageTokens {
		t.Errorf("a picture: %d and %d tokens", usual, most)
	}
}

// TestMeasureOfMedia verifies that the size of a picture in bytes is not taken for text.
func TestMeasureOfMedia(t *testing.T) {
	data := make([]byte, 1<<20)
	m := MeasureOf("p/m", &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{
		llm.Text{Text: "what is it?"},
		llm.Resource{URI: "a.png", MIME: "image/png", Bytes: data},
		llm.Media{MIME: "image/png", Bytes: data},
		llm.Result{Parts: []llm.Part{llm.Media{MIME: "image/png", Bytes: data}}},
	}}}})
	if m.Tokens < 3*imageTokens || m.Tokens > 3*imageTokens+10 || m.Bytes["media"] != 2<<20 {
		t.Errorf("got %d tokens, by kind %v", m.Tokens, m.TokensByKind)
	}
}
