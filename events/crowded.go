package events

import "fmt"

// These limits bound the parts of a file that take many times as much memory as they have bytes.
// They leave room for a hundred thousand tool calls in a conversation.
const (
	// maxContainers is the number of objects and arrays that a file may have.
	maxContainers = 350_000
	// maxMembers is the number of members that one object may have.
	maxMembers = 100_000
	// roomy is the size below which a file cannot exceed the limits.
	roomy = 1 << 20
)

// errCrowded is the reason of a [SyntaxError] about a file that exceeds these limits.
var errCrowded = fmt.Errorf("more than %d objects and lists, or %d members of one of them",
	maxContainers, maxMembers)

// crowded returns the offset at which a file exceeds the limits, or -1.
func crowded(data []byte) int {
	if len(data) < roomy {
		return -1
	}
	return new(crowd).add(data)
}

// A crowd counts objects, arrays and members. It looks only for brackets and commas, before
// anything is allocated for them, and does not check that its input is JSON.
type crowd struct {
	containers, members int
	outer               []int // members so far of each enclosing container
}

// add counts a piece of a file and returns the offset at which it exceeds the limits, or -1. A
// piece must not end inside a string.
func (c *crowd) add(data []byte) int {
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = closingQuote(data, i)
		case '{', '[':
			c.containers++
			if len(c.outer) < MaxDepth {
				c.outer = append(c.outer, c.members)
			}
			c.members = 0
		case '}', ']':
			if n := len(c.outer) - 1; n >= 0 {
				c.members, c.outer = c.outer[n], c.outer[:n]
			}
		case ',':
			c.members++
		}
		if c.containers > maxContainers || c.members >= maxMembers && len(c.outer) > 1 ||
			c.members >= maxContainers {
			return i
		}
	}
	return -1
}

// tooMany is the count for an element that exceeds the limits by itself.
const tooMany = maxContainers + 1

// containers returns the number of objects and arrays in the element, itself included, or tooMany
// if one of them has too many members. It counts once per element, since the whole stream is saved
// whenever it grows.
func (e *Element) containers() int {
	if n := e.counted.Load(); n > 0 {
		return int(n) - 1
	}
	c := crowd{outer: make([]int, 1, 8)} // the enclosing array
	n := tooMany
	if c.add(e.raw) < 0 {
		n = c.containers
	}
	e.counted.Store(int32(n) + 1)
	return n
}

// closingQuote returns the offset of the quote that ends the string at data[i], or that of the last
// byte if the string does not end.
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
