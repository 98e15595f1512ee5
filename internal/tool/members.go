package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/git-jp/git-jp/internal/exact"
)

// A Member is one member of a JSON object.
type Member struct {
	Name  string
	Value jsontext.Value
}

// An Object is a JSON object whose members keep their order.
type Object []Member

// Add adds a member at the end.
func (o *Object) Add(name string, v jsontext.Value) { *o = append(*o, Member{name, v}) }

// Value returns the object as JSON.
func (o Object) Value() jsontext.Value {
	v := jsontext.Value{'{'}
	for i, m := range o {
		if i > 0 {
			v = append(v, ',')
		}
		v = append(append(append(v, Quote(m.Name)...), ':'), m.Value...)
	}
	return append(v, '}')
}

var errNotObject = errors.New("not an object")

// Members returns the members of a JSON object in their order, which a map would lose.
func Members(v jsontext.Value) ([]Member, error) {
	dec := json.NewDecoder(bytes.NewReader(v))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errNotObject
	}
	var all []Member
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, err
		}
		name, _ := t.(string)
		all = append(all, Member{Name: name, Value: jsontext.Value(raw)})
	}
	_, err := dec.Token()
	return all, err
}

// fields decodes members into the values for their names; others are ignored.
func fields(v jsontext.Value, into map[string]any) error {
	ms, err := Members(v)
	if err != nil {
		return err
	}
	for _, m := range ms {
		target, ok := into[m.Name]
		if !ok || string(m.Value) == "null" {
			continue
		}
		if err := exact.Unmarshal(m.Value, target); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}
