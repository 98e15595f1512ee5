package events_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
)

// elements returns a stream with some elements repeated n times; % in them is a running number.
func elements(n int, kinds ...string) []byte {
	var b strings.Builder
	for i := range n {
		for _, kind := range kinds {
			b.WriteString(`,{"timestamp":"2026-05-29 19:42:36.0","type":` +
				strings.ReplaceAll(kind, "%", strconv.Itoa(i)) + "}")
		}
	}
	return []byte("[" + b.String()[1:] + "]")
}

// TestStreamsAreLinear compares the allocations for streams of two sizes, one twice the other: no
// operation takes quadratic memory.
func TestStreamsAreLinear(t *testing.T) {
	const (
		start    = `"turn_start"`
		request  = `"chat_request","content":"q%"`
		call     = `"tool_call_request","id":"%","name":"b","arguments":{}`
		result   = `"tool_call_response","id":"%","content":"eA==","is_error":false`
		response = `"chat_response","message":"a%"`
	)
	for name, kinds := range map[string][]string{
		"turns":       {start, request, response},
		"equal turns": {start, `"chat_request","content":"q"`, `"chat_response","message":"a"`},
		"starts":      {start},
		"calls":       {start, request, call, result},
		"calls of one id": {
			strings.ReplaceAll(call, "%", "a"), strings.ReplaceAll(result, "%", "a"),
		},
		"open calls of one id": {strings.ReplaceAll(call, "%", "a")},
		"deltas":               {`"config_delta","delta":{"assistant":{"name":"eA%"}}`},
	} {
		small, large := elements(2000, kinds...), elements(4000, kinds...)
		for what, do := range map[string]func(data []byte) error{
			"decode": func(data []byte) error { _, err := events.Decode(data); return err },
			"view": func(data []byte) error {
				s, err := events.Decode(data)
				if err == nil {
					_, _ = s.Calls(), s.Turns()
					s.Project().Stream.Sanitize().Encode()
				}
				return err
			},
			"merge": func(data []byte) error {
				base, err := events.Decode(data)
				if err != nil {
					return err
				}
				more, err := events.Decode(append(data[:len(data)-1:len(data)-1],
					`,{"timestamp":"2026-05-29 19:42:37.0","type":"turn_start"}]`...))
				if err == nil {
					_, err = threeway.Merge(threeway.Side{Stream: base}, threeway.Side{Stream: base},
						threeway.Side{Stream: more})
				}
				return err
			},
		} {
			one, two := allocated(t, do, small), allocated(t, do, large)
			if two > one*23/10+1<<20 {
				t.Errorf("%s of %s: %d bytes, and %d of twice as many", what, name, one, two)
			}
		}
	}
}

// allocated returns how many bytes f allocates, freed or not.
func allocated(t *testing.T, do func([]byte) error, data []byte) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := do(data); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
