package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A bench is one comparison. Its set-up builds what both sides need below a
// directory of its own.
type bench struct {
	name  string
	setUp func(b *builder) (ours, theirs side, err error)
}

func main() {
	binary := flag.String("binary", "", "path of git-jp")
	runs := flag.Int("runs", 7, "counted runs of each side")
	scale := flag.Int("scale", 1, "divide the sizes of generated data by this")
	data := flag.String("data", "", "folder with real conversations, may be absent")
	only := flag.String("only", "", "run only benches whose name contains this")
	sessions := flag.String("replay", "", "tell what the input of the sessions in a folder costs")
	flag.Parse()
	if *sessions != "" {
		if err := tell(os.Stdout, *sessions); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := all(*binary, *data, *only, *runs, *scale); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func all(binary, data, only string, runs, scale int) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	top, err := os.MkdirTemp("", "git-jp-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(top)
	fmt.Println("| what | git jp | other | ratio | memory |")
	fmt.Println("|---|---|---|---|---|")
	for i, bench := range benches {
		if !strings.Contains(bench.name, only) {
			continue
		}
		b := &builder{
			dir: filepath.Join(top, fmt.Sprint(i)), binary: binary, data: data, scale: scale,
		}
		if err := b.run(bench, runs); err != nil {
			return fmt.Errorf("%s: %w", bench.name, err)
		}
	}
	return nil
}

func (b *builder) run(bench bench, runs int) error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	ours, theirs, err := bench.setUp(b)
	if errors.Is(err, errNoLFS) {
		fmt.Printf("| %s | skipped: no git-lfs | | | |\n", bench.name)
		return nil
	}
	if errors.Is(err, errNoData) {
		fmt.Printf("| %s | skipped: no real data | | | |\n", bench.name)
		return nil
	}
	if err != nil {
		return err
	}
	if ours.amount > 0 {
		fmt.Printf("| %s | %s: %d | %s: %d | %.3f | |\n", bench.name, ours.label, ours.amount,
			theirs.label, theirs.amount, float64(ours.amount)/float64(theirs.amount))
		return nil
	}
	a, z, err := compare(ours, theirs, runs)
	if err != nil {
		return err
	}
	memory := fmt.Sprintf("%d / %d MiB", a.memory>>20, z.memory>>20)
	if ours.do != nil {
		memory = "one process"
	}
	fmt.Printf("| %s | %s: %v | %s: %v | %.2f | %s |\n", bench.name, ours.label,
		a.median, theirs.label, z.median, ratio(a, z), memory)
	return nil
}
