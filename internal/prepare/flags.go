package prepare

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
)

// Flags are the user's flags for the model, which apply to this conversation from now on.
type Flags struct {
	Model     string   // "" for the configured one
	Params    []string // as KEY=VALUE
	Reasoning string   // off, auto, an effort or a number of tokens; "" for the configured one
}

// Values returns the configuration changes of the flags, as one object. A fault is an
// [*AskedError].
func (f Flags) Values() (map[string][]byte, error) {
	params := map[string]json.RawMessage{}
	for _, p := range f.Params {
		key, value, ok := strings.Cut(p, "=")
		if !ok || key == "" {
			return nil, askedf("--param %q: expected KEY=VALUE", p)
		}
		if !llm.IsExtra(key) {
			return nil, askedf("--param %q: %q of a request is not for parameters to say", p, key)
		}
		_, err := jpconfig.Typed([]string{"assistant", "model", "parameters", key}, value)
		if err != nil && !errors.Is(err, jpconfig.ErrNoKey) {
			return nil, askedf("--param %q: %w", p, err)
		}
		params[key] = jsonOr(value)
	}
	if f.Reasoning != "" {
		v, err := reasoningValue(f.Reasoning)
		if err != nil {
			return nil, err
		}
		params["reasoning"] = v
	}
	model := map[string]any{}
	if f.Model != "" {
		model["id"] = f.Model
	}
	if len(params) > 0 {
		model["parameters"] = params
	}
	if len(model) == 0 {
		return nil, nil
	}
	v, err := json.Marshal(map[string]any{"assistant": map[string]any{"model": model}})
	return map[string][]byte{"--model": v}, err
}

// jsonOr returns a value as JSON if it is valid JSON, else as a JSON string.
func jsonOr(value string) json.RawMessage {
	if json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	v, err := json.Marshal(value)
	if err != nil { // cannot fail for a string
		return nil
	}
	return v
}

func reasoningValue(word string) (json.RawMessage, error) {
	if n, err := strconv.Atoi(word); err == nil && n >= 0 {
		return json.Marshal(map[string]any{"effort": map[string]int{"absolute": n}})
	}
	switch word {
	case "off", "none":
		return json.Marshal("off")
	case "auto", "xlow", "low", "medium", "high", "xhigh", "max":
		return json.Marshal(map[string]string{"effort": word})
	default:
		return nil, askedf("--reasoning %q: expected off, auto, an effort or a number", word)
	}
}
