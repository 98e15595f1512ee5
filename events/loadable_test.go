package events_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

func TestLoadable(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	for _, ok := range []string{
		`{}`, ` {"a" : [1, -0, 1.5e3, 1e308, 1e-400, -1e-99999999999999999999, 0e999]} `,
		`{"a":"1e999","b":"\"1e999","c":"\ud83d\ude00"}`, `"x"`, `null`, nested(124),
		`18446744073709551616`, strings.Repeat("9", 308),
	} {
		if err := events.Loadable(jsontext.Value(ok)); err != nil {
			t.Errorf("%.60s: %v", ok, err)
		}
	}
	for bad, want := range map[string]error{
		`{"a":1e400}`: events.ErrNumber, `[[-1E+309]]`: events.ErrNumber,
		`1e99999999999999999999`: events.ErrNumber, strings.Repeat("9", 400): events.ErrNumber,
		`{"a":{"b":"c"},"d":2e308}`: events.ErrNumber, nested(125): events.ErrTooDeep,
		`{"a":NaN}`: nil, `{"a":Infinity}`: nil, `{"a":1,}`: nil, ``: nil, `{"a":1}{}`: nil,
		`{"a":01}`: nil, `{"a":"\ud800"}`: nil, "{\"a\":\"\xff\"}": nil, `{"a":1,"a":2}`: nil,
	} {
		err := events.Loadable(jsontext.Value(bad))
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%.60s: %v, want %v", bad, err, want)
		}
	}
}

// Elements that jp cannot load are not written either.
func TestNumbersThatAreTooLarge(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, e := range map[string]*events.Element{
		"arguments": events.NewElement(at, &events.ToolCallRequest{
			ID: "i", Name: "n", Arguments: jsontext.Value(`{"a":1e400}`),
		}, events.Metadata{}),
		"metadata": events.NewElement(at, &events.TurnStart{},
			events.Metadata{}.With("k", jsontext.Value(`[1e400]`))),
		"data": events.NewElement(at, &events.ChatResponse{
			Form: events.FormData, Data: jsontext.Value(`1e400`),
		}, events.Metadata{}),
	} {
		if err := events.New(e).Validate(); !errors.Is(err, events.ErrNumber) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
