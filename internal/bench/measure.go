package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A side is one of the two programs of a comparison.
type side struct {
	label string
	// do runs in this process instead of args, and returns the time that it took: for work that no
	// command does alone.
	do func() (time.Duration, error)
	// amount is the side's result if nothing is timed.
	amount int64
	dir    string
	args   []string
	stdin  []byte
	// before is called before each run and is not measured.
	before func() error
}

// A result has what the counted runs of a side took.
type result struct {
	median    time.Duration
	processor time.Duration // median of all its processes' time on a processor, 0 if unknown
	memory    int64         // largest resident size seen, in bytes
}

// A took has what one run of a side took.
type took struct {
	time, processor time.Duration
	memory          int64
}

// A comparison has what both sides took, and the lowest and the highest ratio of two consecutive
// runs.
type comparison struct {
	ours, theirs  result
	lowest, above float64
}

func (c comparison) ratio() float64 { return float64(c.ours.median) / float64(c.theirs.median) }

// ofProcessors returns the ratio of the processor times, "" if it is not known or too short to be
// counted.
func (c comparison) ofProcessors() string {
	if c.ours.processor == 0 || c.theirs.processor == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", float64(c.ours.processor)/float64(c.theirs.processor))
}

const (
	fewestRuns = 3
	// tooLong is the duration from which one run of both sides is enough: more of them would differ
	// by less than the machine does.
	tooLong = 5 * time.Second
	// enough is how long a row is measured at least, unless it has all its runs earlier.
	enough = 2 * time.Second
)

// compare runs both sides alternately, so that any other load on the machine affects both: as often
// as wanted, less often if that takes long. The first run warms the caches; it counts if it took
// too long and each run begins without caches.
func compare(a, b side, runs int) (comparison, error) {
	var ours, theirs []took
	var start time.Time
	for i := -1; i < runs && (i < fewestRuns || time.Since(start) < enough); i++ {
		one, err := a.run()
		if err != nil {
			return comparison{}, err
		}
		other, err := b.run()
		if err != nil {
			return comparison{}, err
		}
		slow := one.time+other.time > tooLong
		if i < 0 {
			start = time.Now()
		}
		if i >= 0 || slow && a.before != nil {
			ours, theirs = append(ours, one), append(theirs, other)
		}
		if slow && len(ours) > 0 {
			break
		}
	}
	c := comparison{ours: sum(ours), theirs: sum(theirs)}
	for i := range ours {
		r := float64(ours[i].time) / float64(theirs[i].time)
		if i == 0 {
			c.lowest, c.above = r, r
		}
		c.lowest, c.above = min(c.lowest, r), max(c.above, r)
	}
	return c, nil
}

func sum(runs []took) result {
	var r result
	times, processor := make([]time.Duration, len(runs)), make([]time.Duration, len(runs))
	for i, t := range runs {
		times[i], processor[i] = t.time, t.processor
		r.memory = max(r.memory, t.memory)
	}
	r.median, r.processor = median(times), median(processor)
	return r
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2].Round(10 * time.Microsecond)
}

func (s side) run() (t took, err error) {
	if s.before != nil {
		if err := s.before(); err != nil {
			return t, err
		}
	}
	if s.do != nil {
		t.time, err = s.do()
		return t, err
	}
	cmd := exec.Command(s.args[0], s.args[1:]...)
	cmd.Dir, cmd.Env = s.dir, environment()
	cmd.Stdin = bytes.NewReader(s.stdin)
	cmd.Stdout = io.Discard
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	err = cmd.Run()
	t.time = time.Since(start)
	if err != nil {
		return t, fmt.Errorf("%s: %w\n%s", strings.Join(s.args, " "), err, stderr.Bytes())
	}
	t.processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.memory = mostMemory(cmd.ProcessState)
	return t, nil
}
