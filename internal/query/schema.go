package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// A SchemaError says that a model's answer does not follow the schema that it was asked to
// follow, also when asked a second time.
type SchemaError struct {
	Model string
	Err   error
}

// Error implements error.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("%s: answer does not follow the schema: %v", e.Model, e.Err)
}

// Unwrap returns what is wrong with it.
func (e *SchemaError) Unwrap() error { return e.Err }

var errNoData = errors.New("it holds no JSON")

// CheckSchema reports whether a schema is one that answers can be held against.
func CheckSchema(schema jsontext.Value) error {
	_, err := resolve(schema)
	return err
}

func resolve(schema jsontext.Value) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return r, nil
}

// conforms returns the data of an answer that follows the schema.
func conforms(answer []*events.ChatResponse, schema jsontext.Value) (jsontext.Value, error) {
	data := dataOf(answer)
	if data == nil {
		return nil, errNoData
	}
	r, err := resolve(schema)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	if err := r.Validate(value); err != nil {
		return nil, err
	}
	return data, nil
}

// dataOf returns the data of an answer: as such, or as a text that is JSON, perhaps in a
// fence, which is how models answer that cannot be held to a schema.
func dataOf(answer []*events.ChatResponse) jsontext.Value {
	for i := len(answer) - 1; i >= 0; i-- {
		switch r := answer[i]; r.Form {
		case events.FormData:
			return r.Data
		case events.FormMessage:
			if v := jsontext.Value(unfenced(r.Text)); json.Valid(v) {
				return v
			}
		}
	}
	return nil
}

func unfenced(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "```") {
		return text
	}
	_, text, _ = strings.Cut(text, "\n")
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "```"))
}
