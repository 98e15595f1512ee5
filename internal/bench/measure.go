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
	// do is what runs in this process instead of args, and returns what it took: for work that
	// no command does alone.
	do func() (time.Duration, error)
	// amount is what the side comes to where nothing is timed.
	amount int64
	dir    string
	args   []string
	stdin  []byte
	// before is called before each run and is not measured.
	before func() error
	// codes are the exit codes that count as success, {0} when nil.
	codes []int
}

// A result is what the counted runs of a side took.
type result struct {
	median time.Duration
	memory int64 // largest resident size seen, in bytes
}

func ratio(a, b result) float64 { return float64(a.median) / float64(b.median) }

// compare runs both sides alternately, so that whatever else the machine does
// falls on both.
func compare(a, b side, runs int) (result, result, error) {
	var ta, tb []time.Duration
	var ra, rb result
	for i := range runs + 1 {
		da, ma, err := a.run()
		if err != nil {
			return ra, rb, err
		}
		db, mb, err := b.run()
		if err != nil {
			return ra, rb, err
		}
		if i > 0 { // the first run warms the caches
			ta, tb = append(ta, da), append(tb, db)
			ra.memory, rb.memory = max(ra.memory, ma), max(rb.memory, mb)
		}
	}
	ra.median, rb.median = median(ta), median(tb)
	return ra, rb, nil
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2].Round(10 * time.Microsecond)
}

func (s side) run() (took time.Duration, memory int64, err error) {
	if s.before != nil {
		if err := s.before(); err != nil {
			return 0, 0, err
		}
	}
	if s.do != nil {
		took, err = s.do()
		return took, 0, err
	}
	cmd := exec.Command(s.args[0], s.args[1:]...)
	cmd.Dir, cmd.Env = s.dir, environment()
	cmd.Stdin = bytes.NewReader(s.stdin)
	cmd.Stdout = io.Discard
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	err = cmd.Run()
	took = time.Since(start)
	if !s.accepts(cmd.ProcessState.ExitCode()) {
		return 0, 0, fmt.Errorf("%s: %w\n%s", strings.Join(s.args, " "), err, stderr.Bytes())
	}
	return took, mostMemory(cmd.ProcessState), nil
}

func (s side) accepts(code int) bool {
	return code == 0 || slices.Contains(s.codes, code)
}
