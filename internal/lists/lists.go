package lists

// Map returns what f returns for each element. It is not nil.
func Map[E, T any](all []E, f func(E) T) []T {
	out := make([]T, len(all))
	for i, e := range all {
		out[i] = f(e)
	}
	return out
}

// Set returns the set of the elements.
func Set[E comparable](all []E) map[E]bool {
	set := make(map[E]bool, len(all))
	for _, e := range all {
		set[e] = true
	}
	return set
}
