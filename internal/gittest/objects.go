package gittest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" // it names objects
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CommitOf writes a commit of these files, without parents and without a ref, and returns its id:
// the result of hash-object, update-index, write-tree and commit-tree, without a process. The
// repository has to use SHA-1.
func (r *Repository) CommitOf(message string, files map[string]string) string {
	r.tb.Helper()
	const who = "Ada <ada@example.org> 1767323045 +0000" // the same as in Env
	return r.object("commit", fmt.Sprintf("tree %s\nauthor %s\ncommitter %s\n\n%s\n",
		hex.EncodeToString(r.tree(files)), who, who, message))
}

// Blob writes an object of this content and returns its id, like hash-object, without a process.
// The repository has to use SHA-1.
func (r *Repository) Blob(content string) string {
	r.tb.Helper()
	return r.object("blob", content)
}

// tree writes the tree of these files and returns its id.
func (r *Repository) tree(files map[string]string) []byte {
	below := make(map[string]map[string]string)
	entries := make(map[string]string) // by the names by which git sorts them
	for _, name := range slices.Sorted(maps.Keys(files)) {
		dir, rest, ok := strings.Cut(name, "/")
		if !ok {
			id, _ := hex.DecodeString(r.Blob(files[name]))
			entries[name] = "100644 " + name + "\x00" + string(id)
			continue
		}
		if below[dir] == nil {
			below[dir] = make(map[string]string)
		}
		below[dir][rest] = files[name]
	}
	for dir, files := range below {
		entries[dir+"/"] = "40000 " + dir + "\x00" + string(r.tree(files))
	}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		all.WriteString(entries[name])
	}
	id, _ := hex.DecodeString(r.object("tree", all.String()))
	return id
}

// object writes a loose object, unless it exists, and returns its id.
func (r *Repository) object(kind, content string) string {
	r.tb.Helper()
	data := fmt.Appendf(nil, "%s %d\x00%s", kind, len(content), content)
	sum := sha1.Sum(data) // it names objects
	id := hex.EncodeToString(sum[:])
	name := r.Path(".git/objects/" + id[:2] + "/" + id[2:])
	if _, err := os.Lstat(name); err == nil {
		return id
	}
	var packed bytes.Buffer
	w, err := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o755)
	}
	if err == nil {
		err = os.WriteFile(name, packed.Bytes(), 0o444)
	}
	if err != nil {
		r.tb.Fatal(err)
	}
	return id
}
