package events

import "fmt"

// How much a file may hold, of what takes many times as much memory as it has bytes. The limits
// leave a conversation a hundred thousand calls of tools.
const (
	// maxContainers is how many objects and lists a file may have.
	maxContainers = 350_000
	// MaxMembers is how many members one object may have.
	MaxMembers = 100_000
	// roomy is the size below which a file cannot have more than is borne.
	roomy = 1 << 20
)

// ErrCrowded is the reason of a [SyntaxError] about a file that holds more than is read.
var ErrCrowded = fmt.Errorf("more than %d objects and lists, or %d members of one of them",
	maxContainers, MaxMembers)

// crowded returns where in a file there is too much, or -1.
func crowded(data []byte) int {
	if len(data) < roomy {
		return -1
	}
	return new(crowd).add(data)
}

// A crowd counts what a file holds. It looks for nothing but brackets and commas, before anything
// is made of them; that what it is given is JSON others find out.
type crowd struct {
	containers, members int
	outer               []int // the members so far of what is open around
}

// add counts a piece of a file, which cuts no string, and returns where there is too much, or -1.
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
		if c.containers > maxContainers || c.members >= MaxMembers && len(c.outer) > 1 ||
			c.members >= maxContainers {
			return i
		}
	}
	return -1
}

// tooMany is the count of an element with too much in it.
const tooMany = maxContainers + 1

// containers returns how many objects and lists the element is and has, tooMany also where one of
// them has too many members. It is counted once: an element is saved as often as the stream grows.
func (e *Element) containers() int {
	if n := e.counted.Load(); n > 0 {
		return int(n) - 1
	}
	c := crowd{outer: make([]int, 1, 8)} // it stands in a list
	n := tooMany
	if c.add(e.raw) < 0 {
		n = c.containers
	}
	e.counted.Store(int32(n) + 1)
	return n
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
