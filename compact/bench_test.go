package compact_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
)

// large returns a conversation of about n events with files of every kind.
func large(n int) []byte {
	k := new(talk)
	for turn := 0; len(k.elems) < n; turn++ {
		k.turn(fmt.Sprintf("question %d", turn)).think("I think about it for a while.").
			call("fs_read_file", fmt.Sprintf(`{"path":"src/file%d.go"}`, turn%97), long[:600]+fmt.Sprint(turn)).
			call("fs_list_files", fmt.Sprintf(`{"prefixes":["src/%d"]}`, turn%13), long[:400]+fmt.Sprint(turn)).
			call("cargo_test", `{}`, strings.Repeat(fmt.Sprint("ok ", turn, "\n"), 20)).say("It is done.")
	}
	return k.stream().Encode()
}

// BenchmarkStrategies measures each strategy on a hundred thousand events, relative to parsing the
// same stream: the metric "parses" is the ratio.
func BenchmarkStrategies(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		data := large(n)
		start := time.Now()
		const parses = 3
		var s *events.Stream
		for range parses {
			var err error
			if s, err = events.Decode(data); err != nil {
				b.Fatal(err)
			}
		}
		parse := time.Since(start) / parses
		for _, name := range append(compact.Mechanical(), compact.Auto, compact.Summarize) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					o := compact.Options{Strategies: []string{name}, KeepLast: 1, Now: second(0)}
					if _, err := compact.Run(b.Context(), s, o); err != nil {
						b.Fatal(err)
					}
				}
				each := b.Elapsed() / time.Duration(b.N)
				b.ReportMetric(float64(each)/float64(parse), "parses")
			})
		}
	}
}
