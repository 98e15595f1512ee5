package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// Limits of foreign schemas. Real ones have some hundred places and ten levels.
const (
	maxBytes  = 1 << 20
	maxDepth  = 128
	maxPlaces = 20_000
	maxSteps  = 200_000
	maxReason = 500
)

// A Schema is a compiled schema.
type Schema struct {
	root     document
	resolved *jsonschema.Resolved
}

var (
	errSize  = fmt.Errorf("it has more than %d bytes", maxBytes)
	errDepth = fmt.Errorf("it is nested deeper than %d, or refers to itself", maxDepth)
	errCost  = errors.New("validating a value against it takes too long")
)

// drafts are the drafts that the library supports by name.
var drafts = map[string]bool{
	"http://json-schema.org/draft-07/schema#":      true,
	"https://json-schema.org/draft-07/schema#":     true,
	"https://json-schema.org/draft/2020-12/schema": true,
}

// Compile compiles a schema.
func Compile(raw []byte) (*Schema, error) {
	if len(raw) > maxBytes {
		return nil, fmt.Errorf("read the schema: %w", errSize)
	}
	s, err := compile(raw)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return s, nil
}

func compile(raw []byte) (_ *Schema, err error) {
	defer recovered(&err)
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, err
	}
	if top, ok := tree.(map[string]any); ok {
		// The identifier has no effect, since there is no other document to refer to.
		delete(top, "$id")
		if draft, ok := top["$schema"].(string); ok && !drafts[draft] {
			delete(top, "$schema")
		}
	}
	s := &Schema{root: document{tree}}
	if err := s.root.check(); err != nil {
		return nil, err
	}
	plain, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	var read jsonschema.Schema
	if err := json.Unmarshal(plain, &read); err != nil {
		return nil, err
	}
	s.resolved, err = read.Resolve(nil)
	return s, err
}

// Validate returns an error if a value does not follow the schema, in words that a model can act
// on.
func (s *Schema) Validate(value []byte) (err error) {
	defer recovered(&err)
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return fmt.Errorf("it is not JSON: %w", err)
	}
	w := walk{document: s.root}
	if err := w.visit(s.root.tree, v, 0); err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	if err := s.resolved.Validate(v); err != nil {
		return &invalidError{err}
	}
	return nil
}

// An invalidError shortens an error of the library, which repeats the value, and leaves out the
// root.
type invalidError struct{ err error }

// Error implements error.
func (e *invalidError) Error() string {
	text := strings.TrimPrefix(e.err.Error(), "validating root: ")
	if len(text) <= maxReason {
		return text
	}
	cut := maxReason
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// Unwrap returns the complete error.
func (e *invalidError) Unwrap() error { return e.err }

// recovered turns a panic of the library into an error: it panics if its assumptions about schemas
// do not hold.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the schema cannot be used: %v", p)
	}
}
