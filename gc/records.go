package gc

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/refs"
)

// recordsName is the directory of open conflicts, each a JSON record.
const recordsName = "jp/conflicts"

// isRecord reports whether a file is the record of an open conflict.
func isRecord(f gitint.RootFile) bool {
	dir, name := path.Split(filepath.ToSlash(f.Path))
	return path.Ext(name) == ".json" && strings.HasSuffix(dir, "/"+recordsName+"/")
}

// hashesInRecord finds the hashes in a record, and in its base64 members. It ignores the names of
// members, so that one added by a later version is searched too.
func hashesInRecord(data []byte) ([]blobs.Hash, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("is not a conflict record: %w", err)
	}
	all := refs.HashesIn(data)
	for _, value := range members {
		var inside []byte
		if json.Unmarshal(value, &inside) == nil {
			all = append(all, refs.HashesIn(inside)...)
		}
	}
	return all, nil
}
