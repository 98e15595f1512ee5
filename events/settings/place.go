package settings

import "slices"

// A place is a kind of position in the configuration, as far as merging depends on jp's schema. The
// schema itself is not known here: keys that this version does not know are merged like all others.
type place int

const (
	placeCommon place = iota // objects are merged by key, lists appended
	placeFree                // free-form JSON: objects are merged by key, lists replaced
	placeLabels              // the same, but a table with a "value" is not a wrapper
	placeList                // a list replaces
	placeWhole               // any value replaces and is opaque
)

// isFreeForm reports whether null at a place is a value like any other.
func isFreeForm(p place) bool { return p == placeFree || p == placeWhole }

// In a pattern anyName matches one name and anyNames all that follow.
const (
	anyName  = "*"
	anyNames = "**"
)

// placePatterns returns the positions that are not common. The first match counts.
func placePatterns() []struct {
	place   place
	pattern []string
} {
	const tools, each = "tools", anyName
	return []struct {
		place   place
		pattern []string
	}{
		{placeWhole, []string{"conversation", tools, each, "questions", each, "answer"}},
		{placeFree, []string{"conversation", tools, each, "options", anyNames}},
		{placeFree, []string{"plugins", "command", each, "options", anyNames}},
		{placeFree, []string{"template", "values", anyNames}},
		{placeList, []string{"conversation", tools, each, "command", "args"}},
		{placeList, []string{"conversation", tools, each, "style", "parameters", "args"}},
		{placeList, []string{"editor", "cmd", "args"}},
		{placeList, []string{"providers", "llm", each, "auth"}},
		{placeLabels, []string{"conversation", "labels", each, anyNames}},
	}
}

func (p *configParser) place() place { return placeOf(p.path) }

func placeOf(path []string) place {
	switch parameterField(path) {
	case "default":
		return placeWhole
	case "type", "enum":
		return placeList
	}
	for _, pp := range placePatterns() {
		if matchesPattern(path, pp.pattern) {
			return pp.place
		}
	}
	return placeCommon
}

// onlyGrows reports whether jp only ever appends to the list at a path: it uses an empty delta in
// place of one that says otherwise.
func onlyGrows(path []string) bool {
	if n := len(path) - 1; n > 0 && path[n] == "stop_words" {
		return isModelTable(path[:n])
	}
	for _, pattern := range [][]string{
		{"config_load_paths"},
		{"conversation", "inquiry", "assistant", "system_prompt_sections"},
		{"editor", "envs"},
		{"providers", "llm", anyName, "beta_headers"},
		{"providers", "mcp", anyName, "arguments"},
		{"providers", "mcp", anyName, "variables"},
	} {
		if matchesPattern(path, pattern) {
			return true
		}
	}
	return false
}

func matchesPattern(path, pattern []string) bool {
	for i, want := range pattern {
		if want == anyNames {
			return true
		}
		if i >= len(path) || want != anyName && want != path[i] {
			return false
		}
	}
	return len(path) == len(pattern)
}

// parameterField returns the field of a tool's parameter that path leads to or into, or "" if it
// leads elsewhere. A parameter may have the same name as a field.
func parameterField(path []string) string {
	tool := []string{"conversation", "tools", anyName, "parameters", anyName}
	if len(path) < len(tool) || !matchesPattern(path[:len(tool)], tool) {
		return ""
	}
	for rest := path[len(tool):]; len(rest) > 0; {
		switch rest[0] {
		case "items":
			rest = rest[1:]
		case "properties":
			rest = rest[min(2, len(rest)):]
		default:
			return rest[0]
		}
	}
	return ""
}

// unionSources returns the sources of both, sorted.
func unionSources(a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
