package llm

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/git-jp/git-jp/internal/llm/wire"
)

// A Retry is the policy for repeated attempts. The zero value never retries; see [DefaultRetry].
type Retry struct {
	Max  int           // attempts after the first
	Base time.Duration // the first wait; it doubles
	Cap  time.Duration // the longest wait; no retry if a provider asks for a longer one
	// Jitter returns random numbers from 0 to 1 that vary the waits, so that many clients that were
	// rejected together do not return together.
	Jitter func() float64
	// Sleep waits; nil uses a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Notify is called before each wait; it may be nil.
	Notify func(attempt int, wait time.Duration, cause error)
}

// DefaultRetry returns jp's policy with the given jitter.
func DefaultRetry(jitter func() float64) Retry {
	return Retry{Max: 5, Base: time.Second, Cap: 60 * time.Second, Jitter: jitter}
}

// Retryable reports whether the same request may succeed if it is sent again.
func Retryable(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var (
		overflow *OverflowError
		api      *APIError
		idle     *wire.IdleError
		cut      *wire.CutError
	)
	switch {
	case errors.As(err, &overflow):
		return false
	case errors.As(err, &api):
		return api.Retryable
	default:
		// A provider that has not begun its answer may still be working: a retry would make it
		// start again.
		return errors.As(err, &idle) && !idle.First || errors.As(err, &cut)
	}
}

// Stream runs an exchange for a request, and repeats it after errors that may be temporary, as long
// as it has yielded nothing but usage; if money is limited, nothing at all. Deltas cannot be taken
// back: a later error goes to the caller, who keeps the complete parts and asks again.
func (r Retry) Stream(
	ctx context.Context, req *Request, exchange func(context.Context) iter.Seq2[Delta, error],
) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		for attempt := 1; ; attempt++ {
			again := false
			said := false
			for d, err := range exchange(ctx) {
				if err != nil && !said {
					if again = r.wait(ctx, attempt, err) == nil; again {
						break
					}
				}
				said = said || d.Kind != DeltaUsage || req.Afford != nil
				if !yield(d, err) || err != nil {
					return
				}
			}
			if !again {
				return
			}
		}
	}
}

// Do runs a request that is not a stream, such as for a list of models, and repeats it like Stream.
func (r Retry) Do(ctx context.Context, f func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := f(ctx)
		if err == nil || r.wait(ctx, attempt, err) != nil {
			return err
		}
	}
}

// errGiveUp says that there is no further attempt.
var errGiveUp = errors.New("no further attempt")

// wait waits before attempt+1; it returns an error if there is no such attempt.
func (r Retry) wait(ctx context.Context, attempt int, cause error) error {
	if attempt > r.Max || ctx.Err() != nil || !Retryable(cause) {
		return errGiveUp
	}
	d, ok := r.delay(attempt, cause)
	if !ok {
		return errGiveUp
	}
	if r.Notify != nil {
		r.Notify(attempt, d, cause)
	}
	if r.Sleep != nil {
		return r.Sleep(ctx, d)
	}
	return sleep(ctx, d)
}

// delay returns how long to wait: never shorter than the provider asks, and otherwise between half
// and all of the doubled base. It returns false if the provider asks for more than the longest
// wait.
func (r Retry) delay(attempt int, cause error) (time.Duration, bool) {
	jitter := 1.0
	if r.Jitter != nil {
		jitter = r.Jitter()
	}
	var api *APIError
	if errors.As(cause, &api) && api.RetryAfter > 0 {
		return api.RetryAfter + time.Duration(jitter*float64(r.Base)/4), api.RetryAfter <= r.Cap
	}
	d := r.Cap
	if shift := attempt - 1; shift < 30 {
		d = min(r.Cap, r.Base<<shift)
	}
	return d/2 + time.Duration(jitter*float64(d)/2), true
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
