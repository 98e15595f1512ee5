package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
)

type textconvCmd struct {
	Kind string `arg:"" help:"events or blob."`
	File string `arg:"" help:"The file."`
}

// Run prints a file for git diff. It reads nothing else: a reference is shown as the blob that it
// names, whose own difference git shows beside it. A file that cannot be read is printed unchanged,
// since git gives up a diff when a conversion fails.
func (c textconvCmd) Run(_ context.Context, a *app) error {
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
			return render.DiffStream(a.stdout, stream, compact.MetadataPin, dedup.Trimmed)
		}
	case "blob":
		text = render.BlobText(data)
	}
	return render.DiffText(a.stdout, text)
}

// limit returns how much of a file is converted; the file has a temporary name of git's.
func (c textconvCmd) limit(l regular.Limits) int64 {
	if c.Kind == "events" {
		return l.OfStream()
	}
	return l.OfAny()
}
