package settings

import (
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// JSON returns the configuration as an object that can be merged with others.
func (c Config) JSON() jsontext.Value {
	root := c.stored().root
	if root == nil {
		return jsontext.Value("{}")
	}
	return root.joining()
}

// joining returns a value with how it and those in it are merged.
func (n *node) joining() []byte {
	value := n.append(nil)
	if n.kind == '{' {
		var fs []jsonspan.Field
		for _, m := range n.members {
			fs = append(fs, jsonspan.Field{Name: m.name, Value: m.value.joining()})
		}
		value = jsonspan.Object(fs)
	}
	h := n.how
	if h == nil {
		return value
	}
	if n.kind == 0 && n.raw == nil {
		value = nil
	}
	return jsonspan.Object([]jsonspan.Field{
		{Name: "value", Value: value},
		{Name: "strategy", Value: quotedUnlessEmpty(h.strategy)},
		{Name: "separator", Value: quotedUnlessEmpty(h.separator)},
		{Name: "dedup", Value: h.dedup},
		{Name: "discard_when_merged", Value: h.discard},
	})
}

func quotedUnlessEmpty(s string) []byte {
	if s == "" {
		return nil
	}
	return jsonspan.Quoted(s)
}
