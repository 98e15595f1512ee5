package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A bench is one comparison.
type bench struct {
	name  string
	goal  float64 // the ratio that is wanted, or none
	setUp setUp
}

// A setUp builds what both sides need below a directory of its own, or reuses what another bench
// has built there. The sides count only if there is no error.
type setUp func(b *builder) (ours, theirs side, err error)

// options say what is run, and on what data.
type options struct {
	binary, data, only, kept string
	runs, scale, blobs       int
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "", "path of git-jp")
	flag.IntVar(&o.runs, "runs", 7, "counted runs of each side")
	flag.IntVar(&o.scale, "scale", 1, "divide the sizes of generated data by this")
	flag.StringVar(&o.data, "data", "", "folder with real conversations, may be absent")
	flag.StringVar(&o.only, "only", "", "run only benches whose name contains this")
	flag.IntVar(&o.blobs, "blobs", 100_000, "size of the large repository")
	flag.StringVar(&o.kept, "keep", "", "folder of the large repository, which is made unless it is there")
	sessions := flag.String("replay", "", "tell what the input of the sessions in a folder costs")
	flag.Parse()
	err := run(o, *sessions, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run runs what the arguments name: for "scale" the rows that take long and those of the large
// repository, else all others.
func run(o options, sessions string, args []string) error {
	switch {
	case sessions != "":
		return tell(os.Stdout, sessions)
	case len(args) == 0:
		return o.all(benches)
	case len(args) == 1 && args[0] == "scale":
		return o.all(slices.Concat(long, large))
	default:
		return fmt.Errorf("unknown bench %q", args)
	}
}

func (o options) all(benches []bench) error {
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return err
	}
	data := o.data // the commands run elsewhere
	if data != "" {
		if data, err = filepath.Abs(data); err != nil {
			return err
		}
	}
	top, err := os.MkdirTemp("", "git-jp-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(top)
	if binary, err = installed(binary, top); err != nil {
		return err
	}
	fmt.Println("| what | git jp | other | ratio | spread | processors | goal | memory |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for i, bench := range benches {
		if !strings.Contains(bench.name, o.only) {
			continue
		}
		b := &builder{
			top: top, dir: filepath.Join(top, fmt.Sprint(i)), binary: binary, data: data,
			kept: o.kept, blobs: o.blobs, scale: o.scale,
		}
		if err := b.run(bench, o.runs); err != nil {
			return fmt.Errorf("%s: %w", bench.name, err)
		}
	}
	return nil
}

// installed returns a copy of the program like an installed one: the linker leaves a file in the
// system's cache in small pieces, from which each start takes a fifth longer.
func installed(binary, dir string) (string, error) {
	data, err := os.ReadFile(binary)
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "git-jp")
	return name, os.WriteFile(name, data, 0o755) // it is run
}

func (b *builder) run(bench bench, runs int) error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	ours, theirs, err := bench.setUp(b)
	switch {
	case errors.Is(err, errNoLFS), errors.Is(err, errNoData):
		fmt.Printf("| %s | skipped: %v | | | | | | |\n", bench.name, err)
		return nil
	case err != nil:
		return err
	}
	goal := ""
	if bench.goal != none {
		goal = fmt.Sprint("≤ ", bench.goal)
	}
	if ours.amount > 0 {
		fmt.Printf("| %s | %s: %d | %s: %d | %.3f | | | %s | |\n", bench.name, ours.label,
			ours.amount, theirs.label, theirs.amount, float64(ours.amount)/float64(theirs.amount), goal)
		return nil
	}
	c, err := compare(ours, theirs, runs)
	if err != nil {
		return err
	}
	memory := ofMemory(c.ours.memory) + " / " + ofMemory(c.theirs.memory) + " MiB"
	if ours.do != nil {
		memory = "one process"
	}
	fmt.Printf("| %s | %s: %v | %s: %v | %.2f | %.2f–%.2f | %s | %s | %s |\n",
		bench.name, ours.label, c.ours.median, theirs.label, c.theirs.median,
		c.ratio(), c.lowest, c.above, c.ofProcessors(), goal, memory)
	return nil
}

// ofMemory returns a size in MiB, or an upper bound if this process itself used more.
func ofMemory(bytes int64) string {
	if own := ownMemory(); bytes <= own {
		return fmt.Sprint("≤ ", own>>20)
	}
	return fmt.Sprint(bytes >> 20)
}
