package settings

import "slices"

// jp reads a parameter of models that it does not have beside the others in its files, but in a
// conversation it keeps one only below "other". So both are one setting: in a [Config] it is beside
// the others, however it was spelled, and what is written has it below "other".
const other = "other"

// modelTables returns the paths at which a model has parameters.
func modelTables() [][]string {
	return [][]string{
		{"assistant", "model", "parameters"},
		{"conversation", "inquiry", "assistant", "model", "parameters"},
		{"conversation", "title", "generate", "model", "parameters"},
		{"style", "reasoning", "summary_model", "parameters"},
	}
}

// jpHasParameter reports whether jp has a parameter of models.
func jpHasParameter(name string) bool {
	switch name {
	case "max_tokens", "temperature", "top_p", "top_k", "reasoning", "stop_words", other:
		return true
	}
	return false
}

// Path returns the path at which a Config has the value of a path in any spelling.
func Path(path []string) []string {
	n := slices.Index(path, other)
	if n < 0 || n+1 == len(path) || !isOther(path[:n+1]) || jpHasParameter(path[n+1]) {
		return path
	}
	return slices.Delete(slices.Clone(path), n, n+1)
}

// StoredPath returns the path at which what is written has the value of a path of a Config.
func StoredPath(path []string) []string {
	n := len(path) - 1
	for ; n > 0; n-- {
		at := slices.Concat(path[:n], []string{other})
		if isOther(at) && !jpHasParameter(path[n]) {
			return append(at, path[n:]...)
		}
	}
	return path
}

// isOther reports whether a path is that of all parameters that jp does not have.
func isOther(path []string) bool {
	n := len(path) - 1
	return n > 0 && path[n] == other && isModelTable(path[:n])
}

func isModelTable(path []string) bool {
	return slices.ContainsFunc(modelTables(), func(table []string) bool {
		return slices.Equal(table, path)
	})
}

// read returns a configuration with each parameter beside the others. One that has both spellings
// means the one that jp keeps.
func (c Config) read() Config {
	return c.eachModel(func(table *node) *node {
		below := table.member(other)
		if below == nil || below.kind != '{' || below.how != nil {
			return table
		}
		left, moved := byJP(below.members)
		switch {
		case moved == nil:
			return table
		case left == nil:
			return table.without([]string{other}).withMembers(moved)
		}
		return table.withNode([]string{other}, below.only(left)).withMembers(moved)
	})
}

// stored returns a configuration with each parameter where jp keeps it.
func (c Config) stored() Config {
	return c.eachModel(func(table *node) *node {
		left, moved := byJP(table.members)
		if moved == nil {
			return table
		}
		below := table.member(other)
		if below == nil || below.kind != '{' {
			below = &node{kind: '{'}
		}
		return table.only(left).without([]string{other}).
			withMembers([]configMember{{other, below.withMembers(moved)}})
	})
}

// byJP parts parameters into those that jp has and the others.
func byJP(members []configMember) (has, hasNot []configMember) {
	for _, m := range members {
		if jpHasParameter(m.name) {
			has = append(has, m)
		} else {
			hasNot = append(hasNot, m)
		}
	}
	return has, hasNot
}

// eachModel returns the configuration with f of each table of parameters in its place.
func (c Config) eachModel(f func(*node) *node) Config {
	for _, path := range modelTables() {
		if s, ok := c.Setting(path...); ok && s.IsTable() {
			if is := f(s.node); is != s.node {
				c.root = c.root.withNode(path, is)
			}
		}
	}
	return c
}
