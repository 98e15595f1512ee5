package events_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
)

// deltas returns a stream of n deltas, each built from its number.
func deltas(n int, format string) *events.Stream {
	all := make([]*events.Element, n)
	for i := range all {
		all[i] = events.NewElement(time.Unix(0, 0),
			&events.ConfigDelta{Delta: fmt.Appendf(nil, format, i)}, events.Metadata{})
	}
	return events.New(all...)
}

// TestDeltasAreJoinedInTime: deltas that each depend on all before them end in an error with a
// position, and 20,000 that change one setting take twice as long as 10,000.
func TestDeltasAreJoinedInTime(t *testing.T) {
	const list = `{"assistant":{"instructions":{"value":[{"title":"%d"}],"strategy":"append"}}}`
	config := func(s *events.Stream) error {
		_, err := settings.InForce(s, settings.Config{}, s.Len(), 0)
		return err
	}
	for _, tt := range []struct {
		format string
		join   func(*events.Stream) error
	}{
		{list, config},
		{list, func(s *events.Stream) error {
			return settings.EachDelta(s, settings.Config{}, func(int, settings.Config, settings.Config) {})
		}},
		{`{"providers":{"llm":{"aliases":{"a%d":"x/y"}}}}`, config},
		{`{"assistant":{"system_prompt":{"value":"` + strings.Repeat("x", 1000) +
			`%d","strategy":"append"}}}`, config},
	} {
		if err := tt.join(deltas(400, tt.format)); err != nil {
			t.Errorf("400 of %.60s: %v", tt.format, err)
		}
		err := tt.join(deltas(5000, tt.format))
		at := new(events.SyntaxError)
		if !errors.Is(err, settings.ErrWork) || !errors.As(err, &at) || at.Element < 400 {
			t.Errorf("5,000 of %.60s: %v", tt.format, err)
		}
	}
	cost := func(n int) float64 {
		s := deltas(n, `{"assistant":{"name":"%d"}}`)
		return testing.AllocsPerRun(1, func() {
			if _, err := settings.InForce(s, settings.Config{}, n, 0); err != nil {
				t.Fatal(err)
			}
		})
	}
	if one, two := cost(10_000), cost(20_000); two > 2.3*one {
		t.Errorf("10,000 deltas allocate %.0f times, 20,000 %.0f times", one, two)
	}
}
