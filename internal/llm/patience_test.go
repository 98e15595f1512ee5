package llm_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// TestPatienceEnds waits for pieces of an answer as long as it may, whatever shows meanwhile that
// the server is alive, and as long as it likes while the reader thinks.
func TestPatienceEnds(t *testing.T) {
	usage, text := llm.Delta{Kind: llm.DeltaUsage}, llm.Delta{Kind: llm.DeltaFragment, Text: "a"}
	for name, tt := range map[string]struct {
		waits  []time.Duration // before each piece; the last one for the end of the context
		pieces []llm.Delta
		first  bool
		after  time.Duration
	}{
		"before an answer":    {[]time.Duration{time.Hour}, nil, true, 20 * time.Minute},
		"after only figures":  {[]time.Duration{0, time.Hour}, []llm.Delta{usage}, true, 20 * time.Minute},
		"between two pieces":  {[]time.Duration{0, time.Hour}, []llm.Delta{text}, false, 10 * time.Minute},
		"pieces in good time": {[]time.Duration{19 * time.Minute, 9 * time.Minute, time.Hour}, []llm.Delta{text, text}, false, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at := llm.Endpoint{
					Provider: "p", Patience: llm.Patience{First: 20 * time.Minute, Idle: 10 * time.Minute},
				}
				exchange := func(
					ctx context.Context, _ *llm.Request, _ bool, yield func(llm.Delta, error) bool,
				) error {
					for i, wait := range tt.waits {
						select {
						case <-ctx.Done():
							return context.Cause(ctx)
						case <-time.After(wait):
						}
						if !yield(tt.pieces[i], nil) {
							return nil
						}
					}
					return nil
				}
				begun, thought := time.Now(), time.Duration(0)
				err := readAll(at.Stream(t.Context(), &llm.Request{}, exchange), func() {
					time.Sleep(time.Hour) // the reader thinks
					thought += time.Hour
				})
				idle, ok := errors.AsType[*wire.IdleError](err)
				if !ok || idle.First != tt.first || idle.After != tt.after {
					t.Fatalf("it ends with %v", err)
				}
				want := tt.after
				for _, w := range tt.waits[:len(tt.waits)-1] {
					want += w
				}
				if took := time.Since(begun) - thought; took != want {
					t.Errorf("it ends after %s, want %s", took, want)
				}
			})
		})
	}
}

func readAll(deltas iter.Seq2[llm.Delta, error], think func()) error {
	for _, err := range deltas {
		if err != nil {
			return err
		}
		think()
	}
	return nil
}
