package events

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var (
	errZeroTurn  = errors.New("turns are counted from 1")
	errZeroEnd   = errors.New("turns are counted from the end from -1")
	errNotATurn  = errors.New("not a turn number")
	errEmptySpec = errors.New("no turn is named")
)

// lastCompaction selects [afterLastCompaction]; jp also accepts "last".
const lastCompaction = "last-compaction"

// ParseTurnRange reads a range of turns, counted from 1: "3" is one turn, "2..5" is four, and
// either end may be left out. Negative numbers count from the end, and -1 is the last turn.
func ParseTurnRange(spec string) (from, to Bound, err error) {
	if !strings.Contains(spec, "..") {
		from, err = parseTurn(spec)
		to = from
	} else {
		from, to, err = parseEnds(spec)
	}
	if err != nil {
		return Bound{}, Bound{}, fmt.Errorf("parse turns %q: %w", spec, err)
	}
	return from, to, nil
}

// ParseCompactRange reads the range of a compaction. It differs from [ParseTurnRange] in what a
// single number means: "3" is turn 3 and all after it, "-3" everything up to the third turn from
// the end.
func ParseCompactRange(spec string) (from, to Bound, err error) {
	switch {
	case strings.Contains(spec, ".."):
		from, to, err = parseEnds(spec)
	case strings.HasPrefix(spec, "-"):
		to, err = parseTurn(spec)
	default:
		from, err = parseTurn(spec)
	}
	if err != nil {
		return Bound{}, Bound{}, fmt.Errorf("parse range %q: %w", spec, err)
	}
	return from, to, nil
}

// ParseBound reads one end of a range: a turn counted from 1, a negative number that counts from
// the end, or "last-compaction", which only makes sense as a start. Durations need a clock; see
// [AtTime] for those.
func ParseBound(s string) (Bound, error) {
	if strings.EqualFold(s, lastCompaction) || strings.EqualFold(s, "last") {
		return afterLastCompaction(), nil
	}
	b, err := parseTurn(s)
	if err != nil {
		return Bound{}, fmt.Errorf("parse bound %q: %w", s, err)
	}
	return b, nil
}

// parseEnds reads FROM..TO. A missing end is open.
func parseEnds(spec string) (from, to Bound, err error) {
	left, right, _ := strings.Cut(spec, "..")
	if left != "" {
		if from, err = parseTurn(left); err != nil {
			return from, to, err
		}
	}
	if right != "" {
		to, err = parseTurn(right)
	}
	return from, to, err
}

func parseTurn(s string) (Bound, error) {
	digits, negative := strings.CutPrefix(s, "-")
	if s == "" {
		return Bound{}, errEmptySpec
	}
	if !isDigits(digits) {
		return Bound{}, errNotATurn
	}
	n, err := strconv.Atoi(digits)
	switch {
	case err != nil:
		return Bound{}, errNotATurn
	case n == 0 && negative:
		return Bound{}, errZeroEnd
	case n == 0:
		return Bound{}, errZeroTurn
	case negative:
		return FromEnd(n - 1), nil
	default:
		return AtTurn(n - 1), nil
	}
}
