package models_test

import (
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/go-json-experiment/json/jsontext"
)

func builtin(t *testing.T) *models.Table {
	t.Helper()
	table, err := models.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestTable checks the promises of the file for each row.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range builtin(t).Rows() {
		if r.Source == "" || r.AsOf.Year < 2026 {
			t.Errorf("%s has no source (%q) or date (%s)", r.ID, r.Source, r.AsOf)
		}
		provider, _, err := models.Parse(r.ID)
		if err != nil {
			t.Error(err)
		}
		if _, known := models.Find(provider); !known {
			t.Errorf("%s is of an unknown provider", r.ID)
		}
		for _, name := range append(r.Names, r.ID) {
			if seen[name] {
				t.Errorf("%s stands there twice", name)
			}
			seen[name] = true
		}
		p := r.Of(0)
		if p.Input == 0 || p.Output == 0 {
			t.Errorf("%s has no price", r.ID)
		}
		if p.Read > p.Input || p.Write > 0 && p.Write < p.Input || p.WriteLong < p.Write ||
			p.Input > p.Output || r.Output > r.Window && r.Window > 0 {
			t.Errorf("%s has odd figures: %+v", r.ID, r)
		}
		if r.Above != nil && (r.Above.Input < r.Price.Input || r.Above.Tokens < 100_000) {
			t.Errorf("%s has an odd tier: %+v", r.ID, r.Above)
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d models are known", len(seen))
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"openai/gpt-5.6":                     "openai/gpt-5.6-sol",
		"openai/gpt-5-2025-08-07":            "openai/gpt-5",
		"openai/gpt-5-mini":                  "",
		"openai/gpt-5.6-solar":               "",
		"anthropic/claude-opus-4-5-20251101": "anthropic/claude-opus-4-5",
		"anthropic/claude-opus-5-latest":     "anthropic/claude-opus-5",
		"google/gemini-3.1-pro-preview":      "google/gemini-3.1-pro",
		"claude-opus-5":                      "",
	} {
		if r, ok := builtin(t).Find(id); r.ID != want || ok != (want != "") {
			t.Errorf("%s is found as %q", id, r.ID)
		}
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	opus, _ := builtin(t).Find("anthropic/claude-opus-5")
	u := llm.Usage{Input: 1000, Output: 100, CacheRead: 10_000, CacheWrite: 2000}
	sol, _ := builtin(t).Find("openai/gpt-5.6-sol")
	gemini, _ := builtin(t).Find("google/gemini-3.5-flash")
	for _, c := range []struct {
		row  models.Row
		u    llm.Usage
		long int64
		want float64
	}{
		{opus, u, 0, (1000*5 + 100*25 + 10_000*0.5 + 2000*6.25) / 1e6},
		{opus, u, 2000, (1000*5 + 100*25 + 10_000*0.5 + 2000*10) / 1e6},
		{opus, u, 500, (1000*5 + 100*25 + 10_000*0.5 + 1500*6.25 + 500*10) / 1e6},
		{opus, u, 9000, (1000*5 + 100*25 + 10_000*0.5 + 2000*10) / 1e6},
		{gemini, u, 2000, (1000*1.5 + 100*9 + 10_000*0.15 + 2000*1.5) / 1e6},
		{sol, llm.Usage{Input: 272_000}, 0, 272_000 * 4 / 1e6},
		{sol, llm.Usage{Input: 272_001, Output: 1}, 0, (272_001*8 + 30) / 1e6},
		{sol, llm.Usage{Input: 1, CacheWrite: 272_000}, 272_000, (1*8 + 272_000*10) / 1e6},
	} {
		got, ok := c.row.Cost(c.u, c.long)
		if !ok || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %+v costs %v, want %v", c.row.ID, c.u, got, c.want)
		}
	}
	unknown, _ := builtin(t).Find("cerebras/another")
	if _, ok := unknown.Cost(u, 0); ok {
		t.Error("what has no price has a cost")
	}
}

// TestOverride checks that a user's row takes precedence, also over another name of the same model.
func TestOverride(t *testing.T) {
	t.Parallel()
	mine, err := models.Decode([]byte(`
[[model]]
id = "openai/gpt-5.6"
window = 7
cache = { ttl = "90s" }
source = "my contract"
as_of = 2026-12-01
`))
	if err != nil {
		t.Fatal(err)
	}
	r, _ := builtin(t).With(mine).Find("openai/gpt-5.6")
	if r.Window != 7 || time.Duration(r.Cache.TTL) != 90*time.Second {
		t.Errorf("found %+v", r)
	}
	for _, bad := range []string{"[[model]]\nid = 1", "[[model]]\nid = \"x\"", "[[model"} {
		if _, err := models.Decode([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// TestOwnTable checks that the user's file is read, that its values replace others, and that the
// rest does not change. A price has a date.
func TestOwnTable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, models.OwnFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := builtin(t).Find("anthropic/claude-opus-5")
	if table, err := models.Known(dir); err != nil || len(table.Rows()) != len(builtin(t).Rows()) {
		t.Fatalf("without a file: %v", err)
	}
	write(`
[[model]]
id = "anthropic/claude-opus-5"
price = { input = 2, output = 4 }
as_of = 2026-11-01

[[model]]
id = "acme/big"
window = 9000
`)
	table, err := models.Known(dir)
	if err != nil {
		t.Fatal(err)
	}
	own, priced := table.Priced("anthropic/claude-opus-5")
	if !priced || own.Price.Input != 2 || own.Of(0).Read != 2 || own.AsOf.String() != "2026-11-01" ||
		own.Source != models.OwnFile || own.Window != before.Window || own.Cache != before.Cache ||
		!slices.Equal(own.Accepts, before.Accepts) {
		t.Errorf("got %+v, over %+v", own, before)
	}
	if big, priced := table.Priced("acme/big"); priced || big.Window != 9000 {
		t.Errorf("got %+v", big)
	}
	write("[[model]]\nid = \"acme/big\"\nprice = { input = 2, output = 4 }\n")
	if _, err := models.Known(dir); err == nil || !strings.Contains(err.Error(), "as_of") {
		t.Errorf("a price without a date: %v", err)
	}
	for _, bad := range []string{
		"price = { input = 3 }", "price = { input = nan, output = 1 }", "price = { input = inf, output = 1 }",
		"price = { input = 1e308, output = 1 }", "price = { input = -1, output = 1 }",
		"price = { input = 0, output = 0, read = 1 }", "price = { input = 1, output = 1, reed = 1 }",
		"above = { tokens = 5, input = -1, output = 1 }", "window = -5", "output = -1",
		"cache = { ttl = \"-5m\" }", "[[model]]\nid = \"acme/big\"\nas_of = 2026-11-01",
	} {
		write("[[model]]\nid = \"acme/big\"\nas_of = 2026-11-01\n" + bad + "\n")
		if table, err := models.Known(dir); err == nil {
			row, _ := table.Find("acme/big")
			t.Errorf("%s is taken: %+v", bad, row)
		}
	}
	write("[[model")
	if _, err := models.Known(dir); err == nil || !strings.Contains(err.Error(), models.OwnFile) {
		t.Errorf("not TOML: %v", err)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	if _, name, err := models.Parse("openrouter/meta/llama-4:free"); name != "meta/llama-4:free" || err != nil {
		t.Errorf("a name with a slash is %q, %v", name, err)
	}
	for _, bad := range []string{
		"", "x", "/x", "x/", "openai/gpt 5", "open ai/gpt", "openai/gpt-5\x1b[31m",
	} {
		if _, _, err := models.Parse(bad); !isNameError(err) {
			t.Errorf("%q: %v, want a NameError", bad, err)
		}
	}
}

func isNameError(err error) bool {
	_, ok := errors.AsType[*models.NameError](err)
	return ok
}

// A recorder fails every request and records its address, key and body.
type recorder struct {
	url, key, body string
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.url = req.URL.String()
	if req.Body != nil {
		body, _ := io.ReadAll(req.Body) // an unreadable body was not sent
		r.body = string(body)
	}
	for _, h := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		r.key += req.Header.Get(h)
	}
	return nil, errors.New("no network")
}

func TestNew(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"anthropic/claude-opus-5":  "https://api.anthropic.com/v1/messages",
		"openai/gpt-5":             "https://api.openai.com/v1/responses",
		"google/gemini-3-pro":      "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
		"openrouter/anthropic/x:f": "https://openrouter.ai/api/v1/chat/completions",
		"deepseek/deepseek-v4-pro": "https://api.deepseek.com/v1/chat/completions",
		"xai/grok-4.3":             "https://api.x.ai/v1/chat/completions",
		"mistral/mistral-large":    "https://api.mistral.ai/v1/chat/completions",
		"cerebras/zai-glm":         "https://api.cerebras.ai/v1/chat/completions",
		"ollama/qwen3:8b":          "http://localhost:11434/api/chat",
		"llamacpp/m":               "http://127.0.0.1:8080/v1/chat/completions",
		"vllm/m":                   "http://127.0.0.1:8000/v1/chat/completions",
		"lmstudio/m":               "http://127.0.0.1:1234/v1/chat/completions",
	} {
		rec := &recorder{}
		m, err := models.New(id, models.Options{
			Key:    func(models.Provider) (string, error) { return "secret", nil },
			Client: wire.ClientOptions{Base: rec},
		})
		if err != nil || m.ID() != id {
			t.Fatalf("%s: %v", id, err)
		}
		r := &llm.Request{Messages: []llm.Message{
			{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "Q"}}},
		}}
		got := llmtest.Collect(m.Stream(t.Context(), r))
		if rec.url != want || got.Err == nil {
			t.Errorf("%s is asked at %s, %v; want %s", id, rec.url, got.Err, want)
		}
		// Servers on this machine, and proxies before them, may require a key too.
		if !strings.Contains(rec.key, "secret") {
			t.Errorf("%s is sent the key %q", id, rec.key)
		}
	}
	for _, id := range []string{"ollama/m", "llamacpp/m", "vllm/m", "lmstudio/m"} {
		if _, err := models.New(id, models.Options{}); err != nil {
			t.Errorf("%s without a key: %v", id, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	if m, err := models.New("builtin/search", models.Options{}); err != nil || m.ID() != "builtin/search" {
		t.Errorf("the model that is always there: %v", err)
	}
	_, err := models.New("openai/gpt-5", models.Options{})
	var key *models.KeyError
	if !errors.As(err, &key) || key.Provider.KeyEnv != "OPENAI_API_KEY" {
		t.Errorf("without a key: %v", err)
	}
	denied := errors.New("denied")
	_, err = models.New("openai/gpt-5", models.Options{
		Key: func(models.Provider) (string, error) { return "", denied },
	})
	if !errors.Is(err, denied) {
		t.Errorf("with a key that is denied: %v", err)
	}
	var name *models.NameError
	if _, err = models.New("nobody/x", models.Options{}); !errors.As(err, &name) {
		t.Errorf("of nobody: %v", err)
	}
	if m, err := models.New("nobody/x", models.Options{BaseURL: "http://127.0.0.1:9"}); err != nil || m.ID() != "nobody/x" {
		t.Errorf("of nobody, with an address: %v", err)
	}
}

// TestNoParameterWinsOverOurs checks that parameters configured for one provider are added to the
// request, but never replace messages, tools or storage, however they are spelled.
func TestNoParameterWinsOverOurs(t *testing.T) {
	t.Parallel()
	hostile := map[string]jsontext.Value{"safe_extra": jsontext.Value("true")}
	for _, name := range []string{
		"model", "messages", "contents", "input", "system", "systemInstruction", "instructions",
		"tools", "toolConfig", "tool_choice", "stream", "store", "background", "prompt",
		"messages.-1", "messages.0.content", "tools.0", "metadata.user_id", "@this", "a|b", "#",
		"", ":1", `messages\.x`, "-1", "*",
	} {
		hostile[name] = jsontext.Value(`[{"type":"mcp","server_url":"https://evil.example"}]`)
	}
	for _, id := range []string{
		"anthropic/claude-opus-5", "openai/gpt-5", "google/gemini-3-pro", "openrouter/x/y",
		"ollama/qwen3:8b", "deepseek/deepseek-v4-pro",
	} {
		sent := func(other map[string]jsontext.Value) string {
			rec := &recorder{}
			m, err := models.New(id, models.Options{
				Key:    func(models.Provider) (string, error) { return "secret", nil },
				Client: wire.ClientOptions{Base: rec},
			})
			if err != nil {
				t.Fatal(err)
			}
			r := &llm.Request{
				Messages: []llm.Message{{
					Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "Q"}},
				}},
				Tools:  []llm.Tool{{Name: "f"}},
				Params: llm.Params{Other: other},
			}
			llmtest.Collect(m.Stream(t.Context(), r))
			return rec.body
		}
		want := sent(map[string]jsontext.Value{"safe_extra": jsontext.Value("true")})
		if got := sent(hostile); got != want || !strings.Contains(got, "safe_extra") {
			t.Errorf("%s is sent %s, want %s", id, got, want)
		}
	}
}
