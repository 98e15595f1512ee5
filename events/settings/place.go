package settings

import "slices"

// A place is what jp's schema says of a position in the configuration, as far as
// joining depends on it. The schema itself is not known here: keys that this version
// has never heard of are joined like all others.
type place int

const (
	placeCommon place = iota // objects join by key, lists append
	placeFree                // free-form JSON: objects join by key, lists replace
	placeLabels              // the same, but a table with a "value" is just that
	placeList                // a list replaces
	placeWhole               // any value replaces and is not looked into
)

// isFreeForm reports whether a null at a place is a value like any other.
func isFreeForm(p place) bool { return p == placeFree || p == placeWhole }

// any stands for one name in a pattern, rest for all that follows.
const (
	anyName  = "*"
	anyNames = "**"
)

// placePatterns returns the positions that are not common, the first match counting.
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

// parameterField returns the field of a tool's parameter that path leads to or into,
// "" when it leads elsewhere. A parameter may be called as a field is.
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
