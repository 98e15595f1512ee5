package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: platforms DIRECTORY SYSTEM...")
		os.Exit(2)
	}
	failed := false
	for _, system := range os.Args[2:] {
		fmt.Println("sources as", system, "has them")
		if err := examine(os.Args[1], system); err != nil {
			fmt.Fprintln(os.Stderr, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// examine returns the problems of the module in a directory, on one system.
func examine(dir, system string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	all, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax, Tests: true, Dir: dir, //nolint:staticcheck // is just that
		Env: append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
	}, "./...")
	if err == nil && len(all) == 0 {
		err = errors.New("there is no package")
	}
	if err != nil {
		return fmt.Errorf("load the packages of %s for %s: %w", dir, system, err)
	}
	var wrong []error
	packages.Visit(all, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			wrong = append(wrong, fmt.Errorf("%s: %w", system, e))
		}
	})
	if len(wrong) > 0 {
		return errors.Join(wrong...)
	}
	found, err := checker.Analyze(vet.Suite, all, nil)
	if err != nil {
		return fmt.Errorf("analyze the packages of %s for %s: %w", dir, system, err)
	}
	for _, act := range found.Roots {
		if act.Err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %s: %w", system, act, act.Err))
		}
		for _, d := range act.Diagnostics {
			at := act.Package.Fset.Position(d.Pos)
			wrong = append(wrong, fmt.Errorf("%s: %s: %s: %s", system, at, act.Analyzer, d.Message))
		}
	}
	return errors.Join(wrong...)
}
