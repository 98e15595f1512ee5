package merge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// The paths of records in the git directory of a worktree.
const (
	recordsDir  = "jp/conflicts"
	recordsTemp = recordsDir + "/.tmp"
)

// A Record holds the conflicts of one stream.
type Record struct {
	// Path is the stream's, below the root of the working tree.
	Path string
	// Left is the git object of the file that the driver left.
	Left string
	At   time.Time
	// Conflicts holds the undecided ones.
	Conflicts []threeway.Conflict
	// Theirs is their complete stream.
	Theirs []byte
}

// recordFile is a record on disk. Bytes that JSON would respell are base64.
type recordFile struct {
	Path      string    `json:"path"`
	Left      string    `json:"left"`
	At        time.Time `json:"at"`
	Conflicts []byte    `json:"conflicts"`
	Theirs    []byte    `json:"theirs"`
}

// Records gives access to the records of one worktree.
type Records struct{ gitDir string }

// RecordsOf returns the records in the git directory of a worktree.
func RecordsOf(gitDir string) Records { return Records{gitDir} }

func newRecord(f File, m *Merged, repo *gitint.Repo, now time.Time) *Record {
	return &Record{
		Path: f.Path, Left: repo.HashBlob(m.Data).String(), At: now.UTC(),
		Conflicts: m.Conflicts, Theirs: f.Theirs,
	}
}

func recordName(path string) string {
	sum := sha256.Sum256([]byte(path))
	return recordsDir + "/" + hex.EncodeToString(sum[:8]) + ".json"
}

// Save writes a record, replacing an earlier one for the same path.
func (rs Records) Save(r Record) error {
	data, err := json.MarshalIndent(recordFile{
		r.Path, r.Left, r.At, threeway.EncodeConflicts(r.Conflicts), r.Theirs,
	}, "", "  ")
	if err == nil {
		err = rs.write(recordName(r.Path), data)
	}
	if err != nil {
		return fmt.Errorf("note the conflict of %s: %w", r.Path, err)
	}
	return nil
}

func (rs Records) write(name string, data []byte) error {
	options := atomicfile.Options{TempDir: recordsTemp, Private: true}
	return atomicfile.WriteIn(rs.gitDir, name, data, options)
}

// Remove closes the record of a path.
func (rs Records) Remove(path string) error {
	err := os.Remove(filepath.Join(rs.gitDir, filepath.FromSlash(recordName(path))))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("close the conflict of %s: %w", path, err)
	}
	return nil
}

// All returns every record, sorted by path. A record that cannot be read is an error, because it
// holds conflicts that were not decided.
func (rs Records) All() ([]Record, error) {
	dir := filepath.Join(rs.gitDir, filepath.FromSlash(recordsDir))
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list conflicts: %w", err)
	}
	var all []Record
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		r, err := readRecord(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the conflict %s: %w", e.Name(), err)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Record) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

func readRecord(name string) (Record, error) {
	data, err := regular.ReadFile(name, regular.MaxOwn)
	if err != nil {
		return Record{}, err
	}
	var f recordFile
	if err := json.Unmarshal(data, &f); err != nil {
		return Record{}, err
	}
	conflicts, err := threeway.DecodeConflicts(f.Conflicts)
	return Record{f.Path, f.Left, f.At, conflicts, f.Theirs}, err
}
