package jpconfig

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/config"
)

// jpReads reports whether jp starts with a key in its own file.
func jpReads(path []string) bool {
	if len(path) < 4 || path[0] != "providers" || path[1] != "llm" || path[2] == "aliases" {
		return true
	}
	keys := []string{"base_url"}
	switch path[2] {
	case "llamacpp", "ollama":
	case "cerebras", "deepseek", "google":
		keys = append(keys, "api_key_env")
	case "anthropic":
		keys = append(keys, "api_key_env", "chain_on_max_tokens", "beta_headers")
	case "openai":
		keys = append(keys, "api_key_env", "base_url_env")
	case "openrouter":
		keys = append(keys, "api_key_env", "app_name", "app_referrer")
	default:
		return false
	}
	return slices.Contains(keys, path[3])
}

// Unread reports whether jp would not start with the value of a key in its own file.
func Unread(path []string, value any) bool {
	said, err := json.Marshal(value)
	return err == nil && (!jpReads(path) || isModel(path) && !same(said, storedModel(said)))
}

// Stored returns the value of a key in the form that jp reads in a file.
func Stored(path []string, value any) (any, error) {
	said, err := json.Marshal(value)
	if err != nil || isModel(path) || isEnable(path) {
		return value, err
	}
	form := asStored(path, said)
	if same(said, form) {
		return value, nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(form))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return deepPlain(v)
}

// Beside returns the file of a layer for values that are [Unread].
func (s Sources) Beside(layer Layer) (string, error) {
	file, err := s.FileOf(layer)
	if err != nil {
		return "", err
	}
	name := config.BesideFile + ".toml"
	if layer == Directory {
		name = "." + name
	}
	return writable(layer, filepath.Join(filepath.Dir(file), name))
}

// ClaimKeys returns the dotted keys under which what a setting says is approved, in whatever
// spelling: below 'other' each parameter alone.
func ClaimKeys(path []string, value any) []string {
	keys := []string{strings.Join(settings.Path(path), ".")}
	table, _ := value.(map[string]any)
	for name := range table {
		if at := append(slices.Clone(path), name); Respelled(at) != nil {
			keys = append(keys, strings.Join(settings.Path(at), "."))
		}
	}
	return keys
}

// Respelled returns the path under which a file may have the same setting too, nil for none.
func Respelled(path []string) []string {
	for _, p := range [][]string{settings.Path(path), settings.StoredPath(path)} {
		if !slices.Equal(p, path) {
			return p
		}
	}
	return nil
}
