package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// isSettings reports whether a file of a workspace holds settings. Git merges such files as text,
// and git add accepts one with conflict markers, which no command can read afterwards.
func isSettings(name string) bool {
	dir, ok := workspace.PathDir(name)
	if !ok {
		return false
	}
	name = name[len(dir)+1:]
	return name == secrets.RulesFile || slices.Contains(config.Files(), name)
}

// Unmerged returns a finding for each settings file with conflict markers.
func Unmerged(snap gitint.Snapshot, names []string) (findings []check.Finding, err error) {
	for _, name := range names {
		if !isSettings(name) {
			continue
		}
		data, err := snap.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) || check.IsAway(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if line := config.Unmerged(name, data); line > 0 {
			findings = append(findings, check.Finding{
				State: check.Conflicted, Severity: check.Error, Path: name, Commit: snap.Name(),
				Element: -1, Detail: fmt.Sprintf("line %d has conflict markers of a merge", line),
				Next: "decide in the file, then 'git add' it",
			})
		}
	}
	return findings, nil
}

// A settingsReader looks for unmerged settings in one revision after the other, and reads unchanged
// files only once.
type settingsReader struct{ known map[gitint.OID]bool }

// read returns findings for unmerged settings of a revision's workspaces that no earlier revision
// has.
func (r *settingsReader) read(
	snap gitint.Snapshot, dirs []string,
) ([]check.Finding, error) {
	var names []string
	for _, dir := range dirs {
		for _, file := range append(config.Files(), secrets.RulesFile) {
			name := path.Join(dir, file)
			oid, ok := snap.OID(name)
			if ok && !r.known[oid] {
				names = append(names, name)
				r.known[oid] = true
			}
		}
	}
	return Unmerged(snap, names)
}
