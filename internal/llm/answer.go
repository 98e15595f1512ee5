package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/llm/wire"
)

// maxErrorBody limits how much of an error response is read.
const maxErrorBody = 64 << 10

// ReadError reads and closes an unsuccessful response. It returns an [*APIError], or an
// [*OverflowError] around it. The clock is for a Retry-After header with a date.
func ReadError(model string, res *http.Response, now func() time.Time) error {
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	_ = res.Body.Close() // all that matters has been read
	if err != nil {
		return err
	}
	provider, _, _ := SplitID(model)
	e := &APIError{
		Provider: provider, Status: res.StatusCode,
		RetryAfter: RetryAfter(res.Header, now),
	}
	if e.RetryAfter == 0 {
		e.RetryAfter = retryDelay(raw)
	}
	e.Type, e.Message = errorBody(raw)
	if to, err := res.Location(); err == nil && res.StatusCode < http.StatusBadRequest {
		e.Message = "it redirects to " + wire.Address(to) + ", where nothing is sent"
	}
	mayPass := e.Status >= http.StatusInternalServerError || !wire.IsPage(raw)
	e.Retryable = mayPass && retryable(res, e.Type)
	return Classify(model, e)
}

// RetryAfter returns how long the provider asks to wait, 0 if it does not.
func RetryAfter(h http.Header, now func() time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return longest(ms, time.Millisecond)
	}
	after := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(after, 64); err == nil {
		return longest(s, time.Second)
	}
	if t, err := http.ParseTime(after); err == nil && now != nil {
		return max(0, t.Sub(now()))
	}
	return 0
}

// longest returns n units, at least none and at most a hundred years: a wait that a duration cannot
// hold would become none.
func longest(n float64, unit time.Duration) time.Duration {
	const century = 100 * 365 * 24 * time.Hour
	if !(n > 0) { // which includes NaN
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(century)))
}

// retryDelay returns the wait that the body of an error asks for, as Google's does.
func retryDelay(raw []byte) time.Duration {
	var body struct {
		Error struct {
			Details []struct {
				Delay string `json:"retryDelay"`
			} `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(raw, &body) != nil {
		return 0
	}
	for _, d := range body.Error.Details {
		if wait, err := time.ParseDuration(d.Delay); err == nil && wait > 0 {
			return wait
		}
	}
	return 0
}

// retryable reports whether the same request may succeed later. An exhausted quota has the status
// of a rate limit, but does not recover within a minute.
func retryable(res *http.Response, kind string) bool {
	switch res.Header.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	switch {
	case kind == "insufficient_quota", kind == "billing_error":
		return false
	case res.StatusCode == http.StatusNotImplemented:
		return false
	default:
		s := res.StatusCode
		return s == http.StatusRequestTimeout || s == http.StatusConflict ||
			s == http.StatusTooEarly || s == http.StatusTooManyRequests || s >= 500
	}
}

// ErrorEvent reads an error that a provider sends in the middle of a stream, in any form that error
// responses have: an [*APIError] without a status, or an [*OverflowError] around it.
func ErrorEvent(model string, data []byte) error {
	provider, _, _ := strings.Cut(model, "/")
	e := &APIError{Provider: provider}
	e.Type, e.Message = errorBody(data)
	switch strings.ToLower(e.Type) {
	case "overloaded_error", "api_error", "rate_limit_error", "timeout_error", "server_error",
		"internal_server_error", "rate_limit_exceeded", "unavailable", "internal",
		"resource_exhausted", "deadline_exceeded", "429", "500", "502", "503", "504", "529":
		e.Retryable = true
	}
	return Classify(model, e)
}

// Decode reads an event of a stream. A member whose type is not the format's counts as missing:
// compatible servers are inexact, and an answer must not be lost by a member that it does not need.
func Decode(provider string, data []byte, event any) error {
	err := json.Unmarshal(data, event)
	odd, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == nil, ok && odd.Field != "":
		return nil
	case ok:
		err = fmt.Errorf("expected an object, got a value of type %s", odd.Value)
	}
	return &WireError{Provider: provider, Err: err}
}

// Given reports whether a member of an event is present and neither null nor empty.
func Given(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null" && string(raw) != `""`
}

// StreamError converts the error that ended the reading of a stream into one of this package. An
// end in the middle of an event becomes a [*wire.CutError], input that is no event a [*WireError].
func StreamError(provider string, err error) error {
	var (
		cut  *wire.CutError
		idle *wire.IdleError
		size *wire.SizeError
		page *wire.PageError
		body *wire.ForeignError
	)
	switch {
	case errors.As(err, &body):
		if kind, message := errorBody(body.Body); kind+message != "" {
			return ErrorEvent(provider+"/", body.Body)
		}
		err = fmt.Errorf("%w: %s", err, clip(string(body.Body)))
		return &WireError{Provider: provider, Err: err}
	case errors.As(err, &cut), errors.As(err, &idle), errors.As(err, &size), errors.As(err, &page),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &wire.CutError{Provider: provider}
	default:
		return &WireError{Provider: provider, Err: err}
	}
}

// SignatureRefused reports whether a provider rejected the signature or the encrypted data of
// reasoning as invalid or expired.
func SignatureRefused(err error) bool {
	var api *APIError
	if !errors.As(err, &api) || api.Status != http.StatusBadRequest {
		return false
	}
	said := strings.ToLower(api.Type + " " + api.Message)
	signature := strings.Contains(said, "signature") &&
		(strings.Contains(said, "thinking") || strings.Contains(said, "thought"))
	return signature || strings.Contains(said, "encrypted_content") ||
		strings.Contains(said, "encrypted content")
}

// maxMessage is how many bytes of a provider's message are shown.
const maxMessage = 2000

// errorBody returns type and message of an error, which is limited.
func errorBody(raw []byte) (kind, message string) {
	kind, message = errorIn(raw)
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	return kind, message
}

// errorIn reads an error in the forms that providers use: an object "error" with type or message
// (Anthropic, OpenAI), with "status" (Gemini, also in an array), or a string "error" (Ollama). A
// body that is not JSON is itself the message.
func errorIn(raw []byte) (kind, message string) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message any             `json:"message"` // an object beside Ollama's errors
	}
	if json.Unmarshal(raw, &outer) != nil {
		return "", clip(titleOf(string(raw)))
	}
	var inner struct {
		Type     string          `json:"type"`
		Code     any             `json:"code"`
		Status   string          `json:"status"`
		Message  string          `json:"message"`
		Metadata json.RawMessage `json:"metadata"`
	}
	var text string
	switch {
	case json.Unmarshal(outer.Error, &text) == nil:
		return "", text
	case json.Unmarshal(outer.Error, &inner) != nil:
		return "", word(outer.Message)
	}
	if behind := errorBehind(inner.Metadata); behind != "" {
		inner.Message += ": " + behind
	}
	for _, k := range []string{inner.Status, word(inner.Code), inner.Type, number(inner.Code)} {
		if k != "" {
			return k, inner.Message
		}
	}
	return "", inner.Message
}

// errorBehind returns the message of a provider behind OpenRouter, which itself only says that the
// provider returned an error. The message is JSON, or a string of JSON.
func errorBehind(metadata json.RawMessage) string {
	var behind struct {
		Raw json.RawMessage `json:"raw"`
	}
	if json.Unmarshal(metadata, &behind) != nil || len(behind.Raw) == 0 {
		return ""
	}
	raw, text := behind.Raw, ""
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	_, message := errorIn(raw)
	return message
}

// word and number return a code that is a string or a number, else "". A string is more specific
// than the type beside it, a number less.
func word(code any) string {
	s, _ := code.(string)
	return s
}

func number(code any) string {
	if f, ok := code.(float64); ok {
		return strconv.Itoa(int(f))
	}
	return ""
}

// titleOf returns the title of a web page, such as a proxy's, or the whole text if it has none.
func titleOf(page string) string {
	_, rest, _ := strings.Cut(page, "<title>")
	title, _, ok := strings.Cut(rest, "</title>")
	if strings.TrimSpace(title) == "" || !ok {
		return page
	}
	return "a web page, " + title
}

// oneLine returns a provider's words as one line: a second one could pass for a line of this
// program.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip shortens a text that is not a provider's message.
func clip(s string) string {
	s = oneLine(s)
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}

// overflowPhrases returns phrases by which providers report a request that does not fit the window.
func overflowPhrases() []string {
	return []string{
		"prompt is too long", "context_length_exceeded", "maximum context length",
		"exceed context limit", "exceeds the context window", "exceeds the available context",
		"input token count", "context window", "too many tokens", "exceed_context_size",
		"exceeds the context length", "longer than the context length",
	}
}

// Classify returns an [*OverflowError] around e if the provider's message reports an overflow, else
// e. Adapters call it for errors in the middle of a stream; [ReadError] calls it itself.
func Classify(model string, e *APIError) error {
	said := strings.ToLower(e.Type + " " + e.Message)
	badRequest := e.Status >= 400 && e.Status < 500 && e.Status != http.StatusTooManyRequests
	if e.Status != 0 && !badRequest {
		return e
	}
	for _, phrase := range overflowPhrases() {
		if strings.Contains(said, phrase) {
			tokens, limit := overflowNumbers(said)
			return &OverflowError{Model: model, Tokens: tokens, Limit: limit, Err: e}
		}
	}
	return e
}

// overflowNumbers finds the size and the limit in "210000 tokens > 200000 maximum"; other wordings
// give zeros.
func overflowNumbers(said string) (tokens, limit int) {
	m := regexp.MustCompile(`(\d+) tokens > (\d+)`).FindStringSubmatch(said)
	if m == nil {
		return 0, 0
	}
	tokens, errTokens := strconv.Atoi(m[1])
	limit, errLimit := strconv.Atoi(m[2])
	if errTokens != nil || errLimit != nil {
		return 0, 0
	}
	return tokens, limit
}
