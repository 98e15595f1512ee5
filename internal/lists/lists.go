package lists

import "slices"

// Map returns what f returns for each element. It is not nil.
func Map[E, T any](all []E, f func(E) T) []T {
	out := make([]T, len(all))
	for i, e := range all {
		out[i] = f(e)
	}
	return out
}

// Filter returns the elements for which keep reports true, nil if there are none.
func Filter[E any](all []E, keep func(E) bool) (kept []E) {
	for _, e := range all {
		if keep(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// Union returns a with the elements of b that it lacks. It may use the memory of a.
func Union[E comparable](a, b []E) []E {
	for _, e := range b {
		if !slices.Contains(a, e) {
			a = append(a, e)
		}
	}
	return a
}

// Numbers returns the numbers from 0 to n-1.
func Numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Set returns the set of the elements.
func Set[E comparable](all []E) map[E]bool {
	set := make(map[E]bool, len(all))
	for _, e := range all {
		set[e] = true
	}
	return set
}
