package events

import "fmt"

// How much a file may hold, of what takes many times as much memory as it has bytes. The limits
// leave a conversation a hundred thousand calls of tools.
const (
	// MaxContainers is how many objects and lists a file may have.
	MaxContainers = 350_000
	// MaxMembers is how many members one object may have.
	MaxMembers = 100_000
	// roomy is the size below which a file cannot have more than is borne.
	roomy = 1 << 20
)

// ErrCrowded is the reason of a [SyntaxError] about a file that holds more than is read.
var ErrCrowded = fmt.Errorf("more than %d objects and lists, or %d members of one of them",
	MaxContainers, MaxMembers)

// crowded returns where in a file there is too much, or -1. It looks for nothing but brackets and
// commas, before anything is made of them; that what it is given is JSON others find out.
func crowded(data []byte) int {
	if len(data) < roomy {
		return -1
	}
	containers, members, outer := 0, 0, make([]int, 0, MaxDepth)
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = closingQuote(data, i)
		case '{', '[':
			containers++
			if len(outer) < MaxDepth {
				outer = append(outer, members)
			}
			members = 0
		case '}', ']':
			if n := len(outer) - 1; n >= 0 {
				members, outer = outer[n], outer[:n]
			}
		case ',':
			members++
		}
		if containers > MaxContainers || members >= MaxMembers && len(outer) > 1 ||
			members >= MaxContainers {
			return i
		}
	}
	return -1
}

// closingQuote returns the offset of the quote that ends the string at data[i], or the last one.
func closingQuote(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(data) - 1
}
