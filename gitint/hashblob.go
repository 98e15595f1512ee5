package gitint

import (
	"crypto/sha1" //nolint:gosec // it is what git uses
	"crypto/sha256"
	"fmt"
	"hash"
)

// HashBlob returns the id of a blob with this content in the repository, whether it exists or not.
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
