package main

import (
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
)

type textconvCmd struct {
	Kind string `arg:"" help:"events or blob."`
	File string `arg:"" help:"The file."`
}

// Run prints a file as git diff is to show it. It reads nothing else: a reference shows as
// what it names, whose own difference git shows beside it. What cannot be read is
// printed as it stands, since git gives up a diff when a conversion fails.
func (c textconvCmd) Run(a *app) error {
	data, err := regular.ReadFile(a.path(c.File), c.limit(a.limits()))
	if over, ok := errors.AsType[*regular.SizeError](err); ok {
		data, err = fmt.Appendf(nil, "[%s]", over), nil // git gives up a diff otherwise
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", c.File, err)
	}
	text := string(data)
	switch c.Kind {
	case "events":
		if stream, err := events.Decode(data); err == nil {
			return render.DiffStream(a.stdout, stream)
		}
	case "blob":
		text = render.BlobText(data)
	}
	return render.DiffText(a.stdout, text)
}

// limit is how much of a file is converted, whose name is one of git's.
func (c textconvCmd) limit(l regular.Limits) int64 {
	if c.Kind == "events" {
		return l.OfStream()
	}
	return l.OfAny()
}
