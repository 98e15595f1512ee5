package settings

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Without returns the configuration without the value at path, as if it had never been set. The
// tables on the path are kept, even if they become empty.
func (c Config) Without(path ...string) Config {
	if len(path) == 0 {
		return Config{}
	}
	if isOther(path) {
		c = c.stored()
	}
	return Config{c.root.without(Path(path))}.read()
}

func (n *node) without(path []string) *node {
	if n == nil {
		return nil
	}
	i := slices.IndexFunc(n.members, func(m configMember) bool { return m.name == path[0] })
	if i < 0 {
		return n
	}
	out := *n
	out.members = slices.Clone(n.members)
	if len(path) == 1 {
		out.members = slices.Delete(out.members, i, i+1)
		return &out
	}
	out.members[i].value = n.members[i].value.without(path[1:])
	return &out
}

// WithoutNulls returns the configuration without nulls that mean absent.
func (c Config) WithoutNulls() Config { return Config{c.root.withoutNulls(nil)} }

// withoutNulls returns n without nulls that mean absent.
func (n *node) withoutNulls(path []string) *node {
	if n == nil || n.kind != '{' {
		return n
	}
	out := *n
	out.members = make([]configMember, 0, len(n.members))
	changed := false
	for _, m := range n.members {
		at := append(slices.Clip(path), m.name)
		if m.value.saysNothing(at) {
			changed = true
			continue
		}
		value := m.value.withoutNulls(at)
		changed = changed || value != m.value
		out.members = append(out.members, configMember{m.name, value})
	}
	if !changed {
		return n
	}
	return &out
}

// With returns the configuration with the value at path set.
func (c Config) With(path []string, value jsontext.Value) Config {
	p := configParser{path: slices.Clone(path)}
	return Config{c.root.withNode(Path(path), p.value(value))}.read()
}

func (n *node) withNode(path []string, value *node) *node {
	if len(path) == 0 {
		return value
	}
	next := &node{kind: '{'}
	if n != nil && n.kind == '{' {
		*next = *n
		next.members = slices.Clone(n.members)
	}
	for i, m := range next.members {
		if m.name == path[0] {
			next.members[i].value = m.value.withNode(path[1:], value)
			return next
		}
	}
	var none *node
	next.members = append(next.members, configMember{path[0], none.withNode(path[1:], value)})
	return next
}

// only returns a table with these members instead of its own.
func (n *node) only(members []configMember) *node {
	out := *n
	out.members = members
	return &out
}

// withMembers returns a table with members set. It takes time for each member once, however many
// are set: others decide on their number.
func (n *node) withMembers(set []configMember) *node {
	members := slices.Clone(n.members)
	at := memberFinder(n.members, len(set))
	for _, m := range set {
		if i := at(m.name); i >= 0 {
			members[i] = m
		} else {
			members = append(members, m)
		}
	}
	return n.only(members)
}

// IsZero reports whether the configuration is the zero value, which no file produces.
func (c Config) IsZero() bool { return c.root == nil }
