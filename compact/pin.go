package compact

import (
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
)

// MetadataPin is the key under which an event records that a person pinned it, see [Pin].
const MetadataPin = events.MetadataPrefix + "pin"

// The values of a pin: what it protects.
const (
	pinTurn    = "turn"    // the turn of a request
	pinContent = "content" // a result with its call, or the attachments of a request
)

// Pin returns a stream in which everything that a name refers to is pinned, so that no compaction
// changes it: a turn by its number, negative from the end; a call by its id; or a file, in all
// places that show it. It also returns the number of places. If there are none the stream is s.
func Pin(s *events.Stream, name string) (*events.Stream, int) {
	return pinned(s, name, func(e *events.Element, what string) *events.Element {
		if pinOf(e) == pinTurn {
			return e
		}
		return e.WithMetadata(e.Metadata().WithJSON(MetadataPin, what))
	})
}

// Unpin returns a stream without the pins that a name refers to, and their number.
func Unpin(s *events.Stream, name string) (*events.Stream, int) {
	n := 0
	out, _ := pinned(s, name, func(e *events.Element, what string) *events.Element {
		if pinOf(e) != what {
			return e
		}
		n++
		return e.WithMetadata(e.Metadata().Without(MetadataPin))
	})
	return out, n
}

func pinOf(e *events.Element) (what string) {
	e.Metadata().JSON(MetadataPin, &what)
	return what
}

func pinned(
	s *events.Stream, name string, set func(e *events.Element, what string) *events.Element,
) (*events.Stream, int) {
	what := pinContent
	places := callNamed(s, name)
	if n, err := strconv.Atoi(name); err == nil && len(places) == 0 {
		what, places = pinTurn, turnNumbered(s, n)
	} else if len(places) == 0 {
		places = showing(s, name)
	}
	if len(places) == 0 {
		return s, 0
	}
	out := s.Clone()
	for _, i := range places {
		out.Set(i, set(s.At(i), what))
	}
	return out, len(places)
}

// turnNumbered returns the request of a turn.
func turnNumbered(s *events.Stream, n int) []int {
	starts := openings(s)
	if n < 0 {
		n += len(starts) + 1
	}
	if n < 1 || n > len(starts) {
		return nil
	}
	for i := starts[n-1]; i < s.Len(); i++ {
		if s.At(i).Kind() == events.KindChatRequest {
			return []int{i}
		}
	}
	return nil
}

// callNamed returns the results of calls with an id.
func callNamed(s *events.Stream, id string) (places []int) {
	for _, c := range s.Calls() {
		if c.ID == id && !c.Open() {
			places = append(places, c.Response)
		}
	}
	return places
}

// showing returns the results and requests that show a file.
func showing(s *events.Stream, name string) (places []int) {
	for _, c := range s.Calls() {
		in := invocation(s, c)
		if in.Result == nil || !reads(c.Name) {
			continue
		}
		if key, ok := dedup.FileOf(in); ok && isFile(key, name) {
			places = append(places, c.Response)
		}
	}
	for i, e := range s.All() {
		r, ok := e.Event().(*events.ChatRequest)
		if ok && slices.ContainsFunc(r.Resources, func(a events.Resource) bool {
			return isFile(a.URI, name)
		}) {
			places = append(places, i)
		}
	}
	return places
}

// isFile reports whether a key is that of a file with the given path, or of one whose path ends
// with it.
func isFile(key, name string) bool {
	key, _, _ = strings.Cut(key, "#")
	name = strings.TrimPrefix(name, "./")
	return key == name || strings.HasSuffix(key, "/"+name) || strings.HasSuffix(key, "\x00"+name)
}

// pinnedPlaces returns the elements that pins protect.
func pinnedPlaces(s *events.Stream) map[int]bool {
	all, turns := map[int]bool{}, map[int]bool{}
	of := askedIn(s)
	for i, e := range s.All() {
		switch pinOf(e) {
		case pinTurn:
			turns[of[i]] = true
		case pinContent:
			all[i] = true
		}
	}
	if len(all)+len(turns) == 0 {
		return nil
	}
	for i, turn := range of {
		if turns[turn] && s.At(i).Kind().IsEvent() {
			all[i] = true
		}
	}
	for _, c := range s.Calls() {
		if !c.Open() && (all[c.Request] || all[c.Response]) {
			all[c.Request], all[c.Response] = true, true
		}
	}
	return all
}

// withPinned returns the elements of all turns that have pinned elements.
func withPinned(s *events.Stream) map[*events.Element]bool {
	held, turns := map[*events.Element]bool{}, map[int]bool{}
	of := askedIn(s)
	for i := range pinnedPlaces(s) {
		turns[of[i]] = true
	}
	for i, e := range s.All() {
		if turns[of[i]] {
			held[e] = true
		}
	}
	return held
}

// askedIn returns for each element how many turns had been opened, as counted by [openings].
func askedIn(s *events.Stream) []int {
	of, starts := make([]int, s.Len()), openings(s)
	for i := range of {
		n, found := slices.BinarySearch(starts, i)
		if found {
			n++
		}
		of[i] = n
	}
	return of
}
