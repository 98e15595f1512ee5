package jpconfig_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/jpconfig"
)

// TestSharedFormsAreJPs checks the forms in which settings are stored in conversations. jp 4c1c39f1
// was given each of both: it uses an empty configuration in place of one with a value that is
// rewritten here, and does not load a conversation with such a base_config.json.
func TestSharedFormsAreJPs(t *testing.T) {
	model := func(id string) string { return `{"assistant":{"model":{"id":` + id + `}}}` }
	reasoning := func(v string) string {
		return `{"assistant":{"model":{"parameters":{"reasoning":` + v + `}}}}`
	}
	enable := func(v string) string {
		return `{"conversation":{"tools":{"t":{"enable":` + v + `}}}}`
	}
	for _, tt := range []struct{ config, want string }{
		{model(`"vllm/m"`), model(`"vllm%2Fm"`)},
		{model(`"ours/org/m"`), model(`"ours%2Forg%2Fm"`)},
		{model(`{"provider":"mistral","name":"m"}`), model(`"mistral%2Fm"`)},
		{model(`{"provider":"anthropic","name":"m@1"}`), model(`"anthropic%2Fm@1"`)},
		{model(`"openai/m"`), model(`"openai/m"`)},
		{model(`"quick"`), model(`"quick"`)},
		{model(`{"name":"m"}`), model(`{"name":"m"}`)},
		{
			`{"providers":{"llm":{"aliases":{"quick":"vllm/m"}}}}`,
			`{"providers":{"llm":{"aliases":{"quick":"vllm%2Fm"}}}}`,
		},
		{
			`{"conversation":{"compaction":{"rules":[{"summary":{"model":{"id":"vllm/m"}}}]}}}`,
			`{"conversation":{"compaction":{"rules":[{"summary":{"model":{"id":"vllm%2Fm"}}}]}}}`,
		},
		{reasoning(`5000`), reasoning(`{"effort":{"absolute":5000}}`)},
		{reasoning(`{"max_tokens":5000}`), reasoning(`{"effort":{"absolute":5000}}`)},
		{reasoning(`"high"`), reasoning(`{"effort":"high"}`)},
		{reasoning(`{"effort":"high"}`), reasoning(`{"effort":"high"}`)},
		{reasoning(`{"exclude":true}`), reasoning(`{"exclude":true}`)},
		{reasoning(`"off"`), reasoning(`"off"`)},
		{enable(`true`), enable(`{"state":true,"allow_toggle":"any"}`)},
		{enable(`"off"`), enable(`{"state":false,"allow_toggle":"any"}`)},
		{enable(`"always"`), enable(`{"state":true,"allow_toggle":"never"}`)},
		{enable(`"explicit"`), enable(`{"state":false,"allow_toggle":"if_named"}`)},
		{enable(`{"state":true}`), enable(`{"state":true}`)},
	} {
		got := string(jpconfig.Shareable([]byte(tt.config)))
		if got != tt.want {
			t.Errorf("%s: %s; want %s", tt.config, got, tt.want)
		}
		was, err1 := settings.Parse([]byte(tt.config), 0)
		is, err2 := settings.Parse([]byte(got), 0)
		if err1 != nil || err2 != nil || jpconfig.Speaker(was) != jpconfig.Speaker(is) {
			t.Errorf("%s: %v, %v: another model speaks", tt.config, err1, err2)
		}
	}
}

// TestStoredModelIsNoChange checks that a model which a conversation has in the stored form, or as
// jp writes it, is not a change when it is asked for again.
func TestStoredModelIsNoChange(t *testing.T) {
	for stored, flag := range map[string]string{
		`"vllm%2Fm"`:                         `"vllm/m"`,
		`{"provider":"openai","name":"gpt"}`: `"openai/gpt"`,
	} {
		c, err := jpconfig.Load(jpconfig.Sources{
			Base: []byte(`{"assistant":{"model":{"id":` + stored + `}}}`), Stream: events.New(),
			Flags: map[string][]byte{"--model": []byte(`{"assistant":{"model":{"id":` + flag + `}}}`)},
		})
		if err != nil {
			t.Fatal(err)
		}
		delta, _ := c.Delta()
		var said struct {
			Assistant struct{ Model json.RawMessage }
		}
		if err := json.Unmarshal(delta, &said); err != nil || said.Assistant.Model != nil {
			t.Errorf("%s, then %s: %s, %v", stored, flag, delta, err)
		}
	}
}

// TestStoredEnableIsNoChange checks the same for a tool that is enabled: each question after one in
// jp would say it again. In a file it stays the word that a person wrote.
func TestStoredEnableIsNoChange(t *testing.T) {
	enable := func(v string) []byte {
		return []byte(`{"conversation":{"tools":{"t":{"enable":` + v + `}}}}`)
	}
	c, err := jpconfig.Load(jpconfig.Sources{
		Base:   enable(`{"allow_toggle":"any","state":true}`),
		Stream: events.New(), Flags: map[string][]byte{"--tool": enable("true")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if delta, _ := c.Delta(); strings.Contains(string(delta), "enable") {
		t.Errorf("delta %s", delta)
	}
	v, err := jpconfig.Stored([]string{"conversation", "tools", "t", "enable"}, true)
	if v != true || err != nil {
		t.Errorf("written to a file as %v, %v", v, err)
	}
}
