package gitint

import (
	"context"
	"crypto/sha1" //nolint:gosec // it is what git uses
	"crypto/sha256"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/atomicfile"
)

// HashBlob returns the id that an object with this content has in the repository,
// whether it is there or not.
func (r *Repo) HashBlob(content []byte) OID {
	var h hash.Hash
	if r.objectFormat == "sha256" {
		h = sha256.New()
	} else {
		h = sha1.New() //nolint:gosec // it is what git uses
	}
	_, _ = fmt.Fprintf(h, "blob %d\x00", len(content))
	_, _ = h.Write(content)
	return oidOf(h.Sum(nil))
}

// WriteObjects makes an object of each content, byte for byte and without any
// filter, in one step. Until something refers to them git may collect them.
func (r *Repo) WriteObjects(ctx context.Context, contents ...[]byte) ([]OID, error) {
	if len(contents) == 0 {
		return nil, nil
	}
	ids, err := r.writeObjects(ctx, contents)
	if err != nil {
		return nil, fmt.Errorf("write objects: %w", err)
	}
	return ids, nil
}

// writeObjects hands the contents over in files, because hash-object takes only
// one on its input.
func (r *Repo) writeObjects(ctx context.Context, contents [][]byte) ([]OID, error) {
	state := filepath.Join(r.commonDir, "jp")
	if err := atomicfile.MkdirPrivate(state); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(state, "objects-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what stays is harmless
	var names strings.Builder
	for i, content := range contents {
		name := strconv.Itoa(i)
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return nil, err
		}
		names.WriteString(name + "\n")
	}
	out, err := r.run(ctx, command{
		args:  []string{"hash-object", "-w", "--no-filters", "--stdin-paths"},
		stdin: strings.NewReader(names.String()), dir: dir, write: true,
	})
	if err != nil {
		return nil, err
	}
	return parseOIDs(string(out), len(contents))
}

func parseOIDs(text string, n int) ([]OID, error) {
	lines := strings.Fields(text)
	if len(lines) != n {
		return nil, fmt.Errorf("%d object ids for %d objects", len(lines), n)
	}
	ids := make([]OID, n)
	for i, line := range lines {
		id, err := ParseOID(line)
		if err != nil {
			return nil, err
		}
		ids[i] = id
	}
	return ids, nil
}
