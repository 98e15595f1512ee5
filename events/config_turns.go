package events

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Config returns the configuration that is in force at an element: that of base and of
// every config_delta before it. What the deltas set has the given source.
func (s *Stream) Config(base Config, element, source int) (Config, error) {
	return s.applyDeltas(base, 0, element, source)
}

// TurnConfigs returns for each turn the configuration that it ran under: what was in
// force where it begins, without the keys that its turn_start notes in [MetadataUnset].
func (s *Stream) TurnConfigs(base Config, source int) ([]Config, error) {
	var configs []Config
	from := 0
	for _, turn := range s.Turns() {
		var err error
		if base, err = s.applyDeltas(base, from, turn.First, source); err != nil {
			return nil, err
		}
		configs, from = append(configs, base.without(s.At(turn.First))), turn.First
	}
	return configs, nil
}

// applyDeltas joins the deltas among the elements from..to to c; to is not included.
func (s *Stream) applyDeltas(c Config, from, to, source int) (Config, error) {
	for i := from; i < min(to, s.Len()); i++ {
		delta, ok := s.At(i).Event().(*ConfigDelta)
		if !ok {
			continue
		}
		d, err := ParseConfig(delta.Delta, source)
		if err != nil {
			return Config{}, &SyntaxError{Element: i, Kind: KindConfigDelta, Err: err}
		}
		c = c.Merge(d)
	}
	return c, nil
}

// without returns what a turn ran under that begins with start.
func (c Config) without(start *Element) Config {
	v, ok := start.Metadata().Value(MetadataUnset)
	if !ok || start.Kind() != KindTurnStart {
		return c
	}
	return c.withoutPointers(stringsOf(v))
}

func (c Config) withoutPointers(pointers []string) Config {
	for _, p := range pointers {
		if path := slices.Collect(jsontext.Pointer(p).Tokens()); len(path) > 0 {
			c = c.Without(path...)
		}
	}
	return c
}
