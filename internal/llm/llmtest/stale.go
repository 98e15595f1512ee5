package llmtest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
)

// Stale is the signature, or the encrypted data, in the message that [Outlives] is given.
const Stale = "c3RhbGU="

// Outlives checks that a conversation continues if the provider refuses what it signed itself:
// after an error with these words, the request is sent again once, without Stale.
func Outlives(t *testing.T, h Harness, words string, signed llm.Message) {
	t.Helper()
	r := question()
	r.Messages = append(r.Messages, signed, r.Messages[0])
	ask := func(replies ...Reply) (Transcript, []Sent) {
		server := Serve(t, replies...)
		return Collect(h.New(server.Endpoint(t, h.Format)).Stream(t.Context(), r)), server.Sent()
	}
	refused := refusal(400, "invalid_request_error", words)
	got, sent := ask(refused, h.ok(h.Answer("fine")))
	sound(t, got, "fine")
	if len(sent) != 2 || !bytes.Contains(sent[0].Body, []byte(Stale)) {
		t.Fatalf("%d requests, the first without the signature: %s", len(sent), sent[0].Body)
	}
	if bytes.Contains(sent[1].Body, []byte(Stale)) {
		t.Errorf("sent again: %s", sent[1].Body)
	}
	got, sent = ask(refused, refused, h.ok(h.Answer("never")))
	var api *llm.APIError
	if !errors.As(got.Err, &api) || len(sent) != 2 {
		t.Errorf("refused twice, it ends with %v after %d requests", got.Err, len(sent))
	}
}
