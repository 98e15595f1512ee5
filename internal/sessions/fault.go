package sessions

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A fault is an error of JSON in the words of its file: what is where, and what is expected there.
// That of package json names our types.
type fault struct {
	text string
	err  error
}

func (f *fault) Error() string { return f.text }

// Unwrap returns the error of package json.
func (f *fault) Unwrap() error { return f.err }

// InWords returns an error of decoding JSON as a person reads it, and any other error as it is.
func InWords(err error) error {
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return &fault{fmt.Sprintf("it is no JSON from byte %d on: %v", s.ByteOffset+1, s.Err), err}
	}
	s, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return err
	}
	at := cmp.Or(string(s.JSONPointer), "the value")
	if s.JSONKind == jsontext.KindInvalid || s.GoType == nil {
		return &fault{fmt.Sprintf("%s cannot be read: %v", at, cmp.Or(s.Err, err)), err}
	}
	return &fault{fmt.Sprintf("%s is %s, not %s", at, wordOf(s.JSONKind), wanted(s.GoType)), err}
}

func wordOf(k jsontext.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	default:
		return k.String()
	}
}

// wanted returns what a value of a type is in JSON.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	default:
		return "such a number"
	}
}
