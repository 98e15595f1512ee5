package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"
)

// Encode encodes JSON for the wire, without HTML escapes: a model reads "<" as one character.
func Encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// ArgumentsText returns the arguments of a call as the string of JSON that OpenAI's formats have.
func ArgumentsText(c Call) string {
	var compact bytes.Buffer
	if json.Compact(&compact, c.Arguments()) != nil {
		return "{}"
	}
	return compact.String()
}

// A Body is a request by its members, which are encoded in the order of their names.
type Body map[string]any

// Choose sets which tools are called, in the form of OpenAI's formats; named is that for a tool.
func (b Body) Choose(c ToolChoice, named any, required string) {
	b["tool_choice"] = "auto"
	switch c.Mode {
	case ChoiceTool:
		b["tool_choice"] = named
	case ChoiceRequired:
		b["tool_choice"] = required
	case ChoiceNone:
		b["tool_choice"] = "none"
	}
}

// Sample sets how an answer is sampled and where it ends, with the name that a format has for the
// most tokens of an answer.
func (b Body) Sample(p Params, maxTokens string) {
	if p.MaxTokens > 0 {
		b[maxTokens] = p.MaxTokens
	}
	if p.Temperature != nil {
		b["temperature"] = *p.Temperature
	}
	if p.TopP != nil {
		b["top_p"] = *p.TopP
	}
	if p.TopK != nil {
		b["top_k"] = *p.TopK
	}
	if len(p.Stop) > 0 {
		b["stop"] = p.Stop
	}
}

// Encode returns the body with the additional parameters of a request.
func (b Body) Encode(p Params) ([]byte, error) {
	for name, value := range p.Extra() {
		b[name] = json.RawMessage(value)
	}
	return Encode(b)
}

// Object returns a JSON Schema for [Encode], with its members in the given order: a model fills
// properties in their order.
func Object(schema jsontext.Value) (json.RawMessage, error) {
	if schema.Kind() != '{' || !schema.IsValid() {
		return nil, fmt.Errorf("read schema: not a JSON object")
	}
	return json.RawMessage(schema), nil
}

// Post sends a body to an address of the endpoint and calls read with that of a successful
// response. Any other response is an error of [ReadError].
func (e Endpoint) Post(
	ctx context.Context, address string, header http.Header, body []byte,
	read func(io.Reader) error,
) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the address of %s: %w", e.Provider, err)
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	return e.do(req, read)
}

// maxDocument limits a document that is not a model's answer.
const maxDocument = 16 << 20

// Fetch reads a JSON document that is not a model's answer, such as a list of models, under the
// endpoint's retry policy.
func (e Endpoint) Fetch(
	ctx context.Context, address string, header http.Header, into any,
) error {
	return e.Retry.Do(ctx, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			return fmt.Errorf("the address of %s: %w", e.Provider, err)
		}
		req.Header = header.Clone()
		return e.do(req, func(body io.Reader) error {
			err := json.NewDecoder(io.LimitReader(body, maxDocument)).Decode(into)
			if err != nil {
				return StreamError(e.Provider, err)
			}
			return nil
		})
	})
}

// do sends a request and calls read with the body of a successful response.
func (e Endpoint) do(req *http.Request, read func(io.Reader) error) error {
	res, err := e.Client.Do(req)
	if around, ok := errors.AsType[*url.Error](err); ok {
		err = around.Err // it has the address in its text
	}
	switch {
	case err != nil:
		return err
	case res.StatusCode != http.StatusOK:
		return ReadError(e.ID(e.Model), res, e.Now)
	}
	defer func() { _ = res.Body.Close() }() // only read
	return read(res.Body)
}
