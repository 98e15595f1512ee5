package threeway

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// A configCache gives equal configurations the same node, so that comparing two is usually a
// comparison of pointers: a merge has one for each turn and version, and each can be hundreds of
// kilobytes.
type configCache struct {
	parsed map[string]settings.Config
	joined map[[2]settings.Config]settings.Config
	equal  map[[2]settings.Config]bool
	rans   map[ranKey]settings.Config
}

func newConfigCache() *configCache {
	return &configCache{
		parsed: map[string]settings.Config{}, joined: map[[2]settings.Config]settings.Config{},
		equal: map[[2]settings.Config]bool{},
		rans:  map[ranKey]settings.Config{},
	}
}

func (c *configCache) parse(v jsontext.Value) (settings.Config, error) {
	if parsed, ok := c.parsed[string(v)]; ok {
		return parsed, nil
	}
	parsed, err := settings.Parse(v, 0)
	if err != nil {
		return settings.Config{}, err
	}
	c.parsed[string(v)] = parsed
	return parsed, nil
}

// join returns the configuration after next is merged into base.
func (c *configCache) join(base, next settings.Config) settings.Config {
	if base.IsZero() { // otherwise the result is next itself, which may have merge strategies
		base, _ = c.parse(jsontext.Value("{}"))
	}
	k := [2]settings.Config{base, next}
	if joined, ok := c.joined[k]; ok {
		return joined
	}
	joined := base.Merge(next)
	c.joined[k] = joined
	return joined
}

// same reports whether two configurations are equal.
func (c *configCache) same(a, b settings.Config) bool {
	if a == b {
		return true
	}
	k := [2]settings.Config{a, b}
	if equal, ok := c.equal[k]; ok {
		return equal
	}
	equal := bytes.Equal(jsonspan.Normal(a.Plain()), jsonspan.Normal(b.Plain()))
	c.equal[k] = equal
	return equal
}

// wanted returns the configuration that a turn ran with. It returns false if both sides changed it
// for a turn of base; then only the deltas of both decide.
func (m *merger) wanted(t *mergeTurn) (settings.Config, bool) {
	of := func(v int) *settings.Config {
		if t.in[v] == nil {
			return nil
		}
		return &t.in[v].config
	}
	for _, s := range t.in {
		if s != nil && s.anyConfig {
			return settings.Config{}, false
		}
	}
	b, o, th := of(inBase), of(inOurs), of(inTheirs)
	switch {
	case o == nil && th == nil:
		return *b, true // a conflict, which keeps the turn as it was
	case o == nil:
		return *th, true
	case th == nil:
		return *o, true
	case m.configs.same(*o, *th), b != nil && m.configs.same(*b, *th):
		return *o, true
	case b != nil && m.configs.same(*b, *o):
		return *th, true
	case b != nil:
		return settings.Config{}, false
	case bytes.Compare(jsonspan.Normal(o.Plain()), jsonspan.Normal(th.Plain())) <= 0:
		return *o, true
	default:
		return *th, true
	}
}

// seam returns the delta that restores the configuration that a turn ran with, given the one in
// force before it, or nil if none is needed. It also returns the keys that the turn ran without.
func (m *merger) seam(inForce settings.Config, t *mergeTurn) (
	delta *events.Element, unset []string,
) {
	want, ok := m.wanted(t)
	if !ok || m.configs.same(inForce, want) {
		return nil, nil
	}
	d, unset := restore(inForce, want)
	for _, key := range unset {
		m.warn("%s ran without the setting %s, which another branch made before it", m.says(t),
			strings.ReplaceAll(strings.TrimPrefix(key, "/"), "/", "."))
	}
	if string(d) == "{}" {
		return nil, unset
	}
	return events.NewSeam(t.events[0].Time(), d), unset
}

// joined returns the configuration after a delta that was already read.
func (m *merger) joined(inForce settings.Config, delta jsontext.Value) settings.Config {
	if c, err := m.configs.parse(delta); err == nil {
		return m.configs.join(inForce, c)
	}
	return inForce
}

// says describes a turn in a message.
func (m *merger) says(t *mergeTurn) string {
	es := t.events
	for v := 0; es == nil && v < versions; v++ {
		es = eventsOf(t.in[v])
	}
	if len(es) == 0 {
		return "a removed turn"
	}
	return "the turn of " + string(events.AppendTime(nil, es[0].Time()))
}

// BaseConfig merges three versions of a base_config.json, where nil is a missing file. The result
// does not depend on which side is ours. Objects are merged by key at any depth, and a list is a
// single value. If both sides changed a value differently, the values themselves decide and a
// warning names the key. If one side equals base, the result is the other side, byte for byte; any
// other result has its members sorted.
func BaseConfig(base, ours, theirs []byte) (merged []byte, warnings []string, err error) {
	merged, m, err := mergeBaseConfig(base, ours, theirs)
	if err != nil {
		return nil, nil, err
	}
	for _, key := range m.chosen {
		warnings = append(warnings, "both sides changed the setting "+key)
	}
	return merged, warnings, nil
}

func mergeBaseConfig(base, ours, theirs []byte) ([]byte, *baseMerger, error) {
	m := &baseMerger{own: [versions]jsontext.Value{base, ours, theirs}}
	for i, v := range m.own {
		if v == nil {
			continue
		}
		if err := events.CheckObject(v); err != nil {
			return nil, nil, fmt.Errorf("base configuration of %s: %w", versionName(i), err)
		}
	}
	switch {
	case bytes.Equal(ours, theirs), base != nil && bytes.Equal(base, theirs):
		return ours, m, nil
	case base != nil && bytes.Equal(base, ours):
		return theirs, m, nil
	}
	v := m.value(normalised(base), normalised(ours), normalised(theirs))
	if v == nil {
		return nil, m, nil
	}
	return append(jsonspan.Indented(v, 0), '\n'), m, nil
}

// normalised sorts the members of v, which may be nil.
func normalised(v []byte) jsontext.Value {
	if v == nil {
		return nil
	}
	b, _ := jsontext.AppendFormat(nil, v, jsontext.ReorderRawObjects(true)) // it is valid
	return b
}

// A baseMerger merges base configurations.
type baseMerger struct {
	own    [versions]jsontext.Value
	path   []string
	chosen []string // keys for which one side's value was dropped
	// lost holds the settings that ours and theirs had and the result has not.
	lost [versions][]lostSetting
}

type lostSetting struct {
	path  []string
	value jsontext.Value
}

// value merges three versions of a value, where nil is a missing one.
func (m *baseMerger) value(base, ours, theirs jsontext.Value) jsontext.Value {
	if base == nil && slices.Equal(m.path, modelID) {
		switch unknown := isUnknown(ours); {
		case unknown == isUnknown(theirs):
		case unknown && theirs != nil:
			return theirs
		case ours != nil:
			return ours
		}
	}
	if jsonspan.IsObject(ours) && jsonspan.IsObject(theirs) &&
		!sameValue(base, ours) && !sameValue(base, theirs) {
		return m.object(base, ours, theirs)
	}
	return choose(base, ours, theirs, sameValue, func(o, t jsontext.Value) jsontext.Value {
		m.chosen = append(m.chosen, strings.Join(m.path, "."))
		win, lost, side := o, t, inTheirs
		if o == nil || t != nil && bytes.Compare(jsonspan.Normal(t), jsonspan.Normal(o)) < 0 {
			win, lost, side = t, o, inOurs
		}
		if lost != nil {
			m.lost[side] = append(m.lost[side], lostSetting{slices.Clone(m.path), lost})
		}
		return win
	})
}

// modelID is the path of the model. An import has [events.UnknownModel] there while its session has
// not named a model, and a later import the first one that it named.
var modelID = []string{"assistant", "model", "id"}

func isUnknown(model jsontext.Value) bool {
	if !jsonspan.IsObject(model) {
		return false
	}
	name, ok := jsonspan.Find(jsonspan.Members(model), "name")
	return ok && string(name.Value(model)) == strconv.Quote(events.UnknownModel)
}

func sameValue(a, b jsontext.Value) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return bytes.Equal(a, b) || bytes.Equal(jsonspan.Normal(a), jsonspan.Normal(b))
}

func (m *baseMerger) object(base, ours, theirs jsontext.Value) jsontext.Value {
	names := map[string][versions]jsontext.Value{}
	var order []string
	for i, v := range [versions]jsontext.Value{base, ours, theirs} {
		if !jsonspan.IsObject(v) {
			continue
		}
		for _, mb := range jsonspan.Members(v) {
			of, ok := names[mb.Name]
			if !ok {
				order = append(order, mb.Name)
			}
			of[i] = mb.Value(v)
			names[mb.Name] = of
		}
	}
	slices.Sort(order)
	var fs []jsonspan.Field
	for _, name := range order {
		m.path = append(m.path, name)
		of := names[name]
		if v := m.value(of[inBase], of[inOurs], of[inTheirs]); v != nil {
			fs = append(fs, jsonspan.Field{Name: name, Value: v})
		}
		m.path = m.path[:len(m.path)-1]
	}
	return jsonspan.Object(fs)
}

// mergeBaseConfigs decides the base configuration, and the configuration that each version begins
// with. That is the merged one for all: a change of base_config.json applies to existing turns with
// or without a merge. Only if two conversations with the same id are merged do the turns of the
// side that lost a key keep its value.
func (m *merger) mergeBaseConfigs() error {
	b, o, t := m.sides[inBase].BaseConfig, m.sides[inOurs].BaseConfig, m.sides[inTheirs].BaseConfig
	switch { // an unknown one is assumed to be the same as the other's
	case o == nil:
		o = t
	case t == nil:
		t = o
	}
	merged, bm, err := mergeBaseConfig(b, o, t)
	if err != nil || merged == nil {
		return err
	}
	for _, key := range bm.chosen {
		m.warn("both sides changed the setting %s of the base configuration", key)
	}
	m.baseConfig = merged
	if m.mergedBase, err = m.configs.parse(merged); err != nil {
		return err
	}
	for v := range m.bases {
		m.bases[v] = m.mergedBase
		if b != nil {
			continue
		}
		for _, lost := range bm.lost[v] {
			m.bases[v] = m.bases[v].With(lost.path, lost.value)
		}
	}
	return nil
}
