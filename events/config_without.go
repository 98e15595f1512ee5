package events

import "slices"

// Without returns the configuration without what holds at path, as if nobody had said it.
// The tables on the way stay, also when nothing is left in them.
func (c Config) Without(path ...string) Config {
	if len(path) == 0 {
		return Config{}
	}
	return Config{c.root.without(path)}
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
