package main

import "testing"

// TestGarbageInProportion: with a small live heap it pays to leave a lot of garbage; a large one is
// not multiplied.
func TestGarbageInProportion(t *testing.T) {
	for inUse, want := range map[uint64]int{
		0: firstGarbage, 4 << 20: firstGarbage, 48 << 20: 200, 96 << 20: 100,
		192 << 20: leastGarbage, 1 << 40: leastGarbage,
	} {
		if got := proportion(inUse); got != want {
			t.Errorf("%d bytes in use: %d %%, want %d", inUse, got, want)
		}
	}
	if inUse() > 1<<32 {
		t.Error("more is in use than this process has")
	}
}
