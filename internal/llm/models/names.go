package models

import (
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
)

// A NameError says that a text is not the name of a model.
type NameError struct {
	Name, Reason string
}

// Error implements error.
func (e *NameError) Error() string { return fmt.Sprintf("model %q: %s", e.Name, e.Reason) }

// Parse splits a model's id into provider and name, and rejects characters that jp does not allow.
func Parse(id string) (provider, name string, err error) {
	provider, name, ok := llm.SplitID(id)
	if !ok {
		return "", "", &NameError{id, "it is not written as provider/name"}
	}
	foreign := func(allowed string) func(rune) bool {
		return func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
				!strings.ContainsRune(allowed, r)
		}
	}
	if i := strings.IndexFunc(name, foreign("_.:/~-")); i >= 0 {
		return "", "", &NameError{id, fmt.Sprintf("no name contains %q", []rune(name[i:])[0])}
	}
	if strings.ContainsFunc(provider, foreign("_-")) {
		return "", "", &NameError{id, fmt.Sprintf("no provider has the name %q", provider)}
	}
	return provider, name, nil
}
