package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// A SchemaError says that a model's answer did not follow the requested schema, not even when asked
// a second time.
type SchemaError struct {
	Model string
	Err   error
}

// Error implements error.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("%s: answer does not follow the schema: %v", e.Model, e.Err)
}

// Unwrap returns the violation.
func (e *SchemaError) Unwrap() error { return e.Err }

var errNoData = errors.New("it does not contain JSON")

// CheckSchema returns an error if answers cannot be validated by the schema.
func CheckSchema(text jsontext.Value) error {
	_, err := schema.Compile(text)
	return err
}

// conforms returns the data of an answer if it follows the schema.
func conforms(answer []*events.ChatResponse, text jsontext.Value) (jsontext.Value, error) {
	data := dataOf(answer)
	if data == nil {
		return nil, errNoData
	}
	s, err := schema.Compile(text)
	if err != nil {
		return nil, err
	}
	if err := s.Validate(data); err != nil {
		return nil, err
	}
	return data, nil
}

// dataOf returns the data of an answer: as such, or as a text that is JSON, perhaps in a Markdown
// fence, as models answer that cannot be restricted to a schema.
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
