package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	version := flag.String("version", "", "the version that is released")
	flag.Parse()
	if err := run(flag.Arg(0), *version); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run writes the bill of the programs in dir, then the checksums of all files there.
func run(dir, version string) error {
	programs, err := filepath.Glob(filepath.Join(dir, "git-jp-*-*"))
	if err != nil {
		return err
	}
	bill, err := newBill(version, programs)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, billName), bill, 0o644); err != nil {
		return err
	}
	sums, err := checksums(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sumsName), sums, 0o644)
}
