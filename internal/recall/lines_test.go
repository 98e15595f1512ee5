package recall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/git-jp/git-jp/internal/recall"
	"github.com/git-jp/git-jp/internal/review"
	"github.com/git-jp/git-jp/internal/web"
	"github.com/google/go-cmp/cmp"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	ping = `{"jsonrpc":"2.0","id":"p","method":"ping"}` + "\n"
)

// nothing is a source without conversations.
type nothing struct{}

// Entries implements [web.Source].
func (nothing) Entries(context.Context) ([]web.Entry, error) { return nil, nil }

// serve returns the answers to input as "id ok" or "id code", in the order in which they came.
func serve(t *testing.T, input io.Reader, o recall.Options) (got []string) {
	t.Helper()
	o.Source = nothing{}
	var out strings.Builder
	if err := recall.Serve(t.Context(), recall.New(o), input, &out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		var answer struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Result  json.RawMessage `json:"result"`
			Error   *struct{ Code int }
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.Version != "2.0" {
			t.Fatalf("%v: %s", err, line)
		}
		switch {
		case len(answer.ID) == 0:
			t.Errorf("no id: %s", line)
		case answer.Error != nil:
			got = append(got, fmt.Sprintf("%s %d", answer.ID, answer.Error.Code))
		default:
			got = append(got, string(answer.ID)+" ok")
		}
	}
	return got
}

// TestWhatIsNoMessage checks that lines that are no messages get an error, and that later lines are
// answered.
func TestWhatIsNoMessage(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"not json", "null -32700"},
		{`{"jsonrpc":"2.0",`, "null -32700"},
		{"\xff\xfe", "null -32700"},
		{ping[:len(ping)-1] + ping, `null -32700`},
		{"[]", "null -32600"},
		{"[" + ping[:len(ping)-1] + "]", "null -32600"},
		{"{}", "null -32600"},
		{"1", "null -32600"},
		{"null", "null -32600"},
		{`{"jsonrpc":"2.0","id":7,"method":5}`, "7 -32600"},
		{`{"jsonrpc":"1.0","id":7,"method":"ping"}`, "7 -32600"},
		{`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, "null -32600"},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "null -32600"},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "null -32600"},
		{`{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("x", 16<<20) + `"}`, "null -32600"},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"none"}}`, "7 -32602"},
		{`{"jsonrpc":"2.0","id":7,"method":"no/such"}`, "7 -32601"},
		{"", ""},
	} {
		got := serve(t, strings.NewReader(initialize+tt.line+"\n"+ping), recall.Options{})
		want := map[string]bool{`1 ok`: true, `"p" ok`: true, tt.want: true}
		for _, answer := range got {
			delete(want, answer)
		}
		delete(want, "")
		if len(want) > 0 || len(got) > 3 {
			t.Errorf("%.60s: got %q, not %v", tt.line, got, want)
		}
	}
}

// TestEndOfInput checks that all requests before the end of the input are answered, also slow ones
// and one without a line feed.
func TestEndOfInput(t *testing.T) {
	ended := make(chan struct{})
	o := recall.Options{Review: func(ctx context.Context, _ string) ([]review.Conversation, error) {
		<-ended
		return nil, ctx.Err()
	}}
	const call = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"branch_turns","arguments":{}}}`
	input := initialize + fmt.Sprintf(call, 2) + "\n" + fmt.Sprintf(call, 3) + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n\n" + strings.TrimSpace(ping)
	got := serve(t, &closing{Reader: strings.NewReader(input), ended: ended}, o)
	seen := map[string]int{}
	for _, answer := range got {
		seen[answer]++
	}
	delete(seen, "3 ok") // or the error of a cancelled request
	delete(seen, "3 0")
	want := map[string]int{"1 ok": 1, "2 ok": 1, "2 -32600": 1, `"p" ok`: 1}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

// closing closes a channel at the end of the input.
type closing struct {
	io.Reader

	ended chan struct{}
	once  sync.Once
}

func (c *closing) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if err != nil {
		c.once.Do(func() { close(c.ended) })
	}
	return n, err
}
