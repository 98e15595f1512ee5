package gitint

import (
	"context"
	"fmt"
	"path/filepath"
)

// AddTrailers adds trailers, each "Key: value", to the message of a commit in a file,
// unless they are there. A name that is not absolute is one from the root of the work
// tree, as git gives it to hooks.
func (r *Repo) AddTrailers(ctx context.Context, file string, trailers []string) error {
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.runDir, file)
	}
	args := []string{"interpret-trailers", "--in-place", "--if-exists", "addIfDifferent"}
	for _, t := range trailers {
		args = append(args, "--trailer", t)
	}
	_, err := r.run(ctx, command{args: append(args, file), write: true})
	if err != nil {
		return fmt.Errorf("add trailers: %w", err)
	}
	return nil
}
