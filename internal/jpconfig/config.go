package jpconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/trust"
)

// Warnings returns the warnings so far, in the order of reading.
func (c *Config) Warnings() []Warning { return slices.Clone(c.warnings) }

// JSON returns the effective configuration as one JSON object, which jp stores as base_config.json.
// It is for display: whoever acts on it bypasses the guards.
func (c *Config) JSON() []byte { return c.all.Plain() }

// Delta returns the config_delta with which the conversation continues under this configuration,
// "{}" for no change. Lost are the dotted keys of the conversation that a delta cannot remove.
func (c *Config) Delta() (delta []byte, lost []string) {
	delta, lost = settings.Diff(c.conversation, c.all)
	lost = slices.DeleteFunc(lost, func(key string) bool {
		s, ok := c.conversation.Setting(strings.Split(key, ".")...)
		return slices.Contains(c.left, key) || ok && saysNothing(s.Value())
	})
	var tree map[string]json.RawMessage
	if exact.Unmarshal(delta, &tree) != nil {
		return delta, lost
	}
	for _, key := range loadTime() {
		delete(tree, key)
	}
	delta, err := json.Marshal(tree)
	if err != nil {
		return []byte("{}"), lost // cannot fail for valid JSON
	}
	return unsaid(nil, asStored(nil, delta), json.RawMessage(c.conversation.Plain())), lost
}

// saysNothing reports whether a value is an empty list or table, as jp writes for each key that may
// have one. A new conversation says as much without the key.
func saysNothing(value []byte) bool {
	var wrapped struct {
		Value json.RawMessage `json:"value"`
	}
	if exact.Unmarshal(value, &wrapped) == nil && wrapped.Value != nil {
		value = wrapped.Value
	}
	text := string(bytes.TrimSpace(value))
	return text == "[]" || text == "{}"
}

// loadTime returns the keys that only have an effect while files are read.
func loadTime() []string { return []string{"extends", "inherit", "loader"} }

// Value returns the effective value at a path and its origins, the one with the highest precedence
// last.
func (c *Config) Value(path ...string) (json.RawMessage, []Origin, bool) {
	s, ok := c.all.Setting(path...)
	if !ok {
		return nil, nil, false
	}
	return json.RawMessage(s.Value()), c.originsOf(s), true
}

func (c *Config) originsOf(s settings.Setting) []Origin {
	return lists.Map(s.Sources(), func(source int) Origin { return c.origins[source] })
}

// Decode decodes the effective value at a path into *v, as [json.Unmarshal] does. If it cannot, it
// reports false and leaves *v unchanged.
func (c *Config) Decode(v any, path ...string) bool {
	raw, _, ok := c.Value(path...)
	return ok && decode(v, raw) == nil
}

func decode(v any, raw []byte) error {
	if string(raw) == "null" {
		return errors.New("null")
	}
	fresh := reflect.New(reflect.TypeOf(v).Elem())
	if err := exact.Unmarshal(raw, fresh.Interface()); err != nil {
		return err
	}
	reflect.ValueOf(v).Elem().Set(fresh.Elem())
	return nil
}

// read is Decode that warns of a value with the wrong type.
func (c *Config) read(v any, path ...string) {
	raw, origins, ok := c.Value(path...)
	if !ok || string(raw) == "null" {
		return
	}
	if err := decode(v, raw); err != nil {
		c.leaveOut(err, origins, path...)
	}
}

// leaveOut warns of a value that does not count. Origins has its origin last.
func (c *Config) leaveOut(err error, origins []Origin, path ...string) {
	c.warn(Warning{
		Where: last(origins).At(path...), Key: strings.Join(path, "."),
		Text: "left out: " + err.Error(),
	})
}

// warn adds a warning, once.
func (c *Config) warn(w Warning) {
	if !c.warned[w] {
		if c.warned == nil {
			c.warned = map[Warning]bool{}
		}
		c.warned[w], c.warnings = true, append(c.warnings, w)
	}
}

func last(origins []Origin) Origin {
	if len(origins) == 0 {
		return Origin{}
	}
	return origins[len(origins)-1]
}

// text returns the string at a path, "" if there is none.
func (c *Config) text(path ...string) string {
	var s string
	c.read(&s, path...)
	return s
}

// names returns the names of a table in order.
func (c *Config) names(path ...string) []string {
	s, ok := c.all.Setting(path...)
	if !ok {
		return nil
	}
	return s.Names()
}

// has reports whether the user's own layers have the same value at a path.
func (c *Config) has(path ...string) bool {
	s, ok := c.all.Setting(path...)
	own, said := c.own.Setting(path...)
	return ok && said && same(s.Value(), own.Value())
}

// same compares JSON, in which the order of members does not count.
func same(a, b []byte) bool { return bytes.Equal(canonical(a), canonical(b)) }

// canonical returns JSON in one canonical form.
func canonical(v []byte) []byte {
	var tree any
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	if d.Decode(&tree) != nil {
		return v
	}
	b, err := json.Marshal(tree)
	if err != nil {
		return v
	}
	return b
}

// claim returns the claim for the value at a path, with the foreign origin of the value.
func (c *Config) claim(kind trust.Kind, value []byte, path ...string) trust.Claim {
	_, origins, _ := c.Value(path...)
	return trust.Claim{
		Kind: kind, Key: strings.Join(path, "."), Value: string(canonical(value)),
		Origin: foreignOrigin(origins, path...),
	}
}

// foreignOrigin returns the foreign origin with the highest precedence, "" for none.
func foreignOrigin(origins []Origin, path ...string) string {
	for _, o := range slices.Backward(origins) {
		if o.Foreign {
			return o.At(path...)
		}
	}
	return ""
}

// guarded guards v, which is derived from the value at a path.
func guarded[T any](c *Config, kind trust.Kind, v T, path ...string) trust.Guarded[T] {
	raw, _, ok := c.Value(path...)
	if !ok || c.has(path...) {
		return trust.Own(v)
	}
	return trust.Foreign(v, c.claim(kind, raw, path...))
}
