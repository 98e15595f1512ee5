package main

import (
	"fmt"
	"runtime"
)

type versionCmd struct{}

// versionRecord is what `version --json` prints.
type versionRecord struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// Run prints the version.
func (versionCmd) Run(a *app) error {
	r := versionRecord{a.version, runtime.Version(), runtime.GOOS, runtime.GOARCH}
	if a.JSON {
		return a.printJSON(r)
	}
	_, err := fmt.Fprintf(a.stdout, "git-jp version %s\n", r.Version)
	return err
}
