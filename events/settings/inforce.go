package settings

import (
	"errors"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// InForce returns the configuration in force at an element: base with every config_delta before the
// element merged into it. Values that the deltas set have the given source.
func InForce(s *events.Stream, base Config, element, source int) (Config, error) {
	j := deltaJoiner{config: base, source: source}
	err := j.all(s, 0, element)
	return j.config, err
}

// EachDelta calls f for each config_delta, with its element and the configuration before and after
// it.
func EachDelta(s *events.Stream, base Config, f func(element int, before, after Config)) error {
	j := deltaJoiner{config: base}
	for i := range s.Len() {
		before := j.config
		if err := j.all(s, i, i+1); err != nil {
			return err
		}
		if s.At(i).Kind() == events.KindConfigDelta {
			f(i, before, j.config)
		}
	}
	return nil
}

// maxConfigWork bounds the work of merging the deltas of a stream. Each is merged into the result
// of all before it. It suffices for 20,000 deltas that each change one of 200 sibling settings, or
// for 3,000 that each add an element to a list.
const maxConfigWork = 5_000_000

// ErrWork reports deltas that cannot be merged in a reasonable time.
var ErrWork = errors.New("too many settings to merge")

// A deltaJoiner merges deltas into a configuration.
type deltaJoiner struct {
	config Config
	source int
	merger configMerger
}

// all merges the deltas among the elements from..to, not including to.
func (j *deltaJoiner) all(s *events.Stream, from, to int) error {
	for i := from; i < min(to, s.Len()); i++ {
		delta, ok := s.At(i).Event().(*events.ConfigDelta)
		if !ok {
			continue
		}
		d, err := Parse(delta.Delta, j.source)
		if err == nil {
			j.config = j.merger.merge(j.config, d)
			if j.merger.work > maxConfigWork {
				err = ErrWork
			}
		}
		if err != nil {
			j.config = Config{}
			return &events.SyntaxError{Element: i, Kind: events.KindConfigDelta, Err: err}
		}
	}
	return nil
}

// WithoutPointers returns the configuration without the values that JSON pointers name.
func (c Config) WithoutPointers(pointers []string) Config {
	for _, p := range pointers {
		if path := slices.Collect(jsontext.Pointer(p).Tokens()); len(path) > 0 {
			c = c.Without(path...)
		}
	}
	return c
}
