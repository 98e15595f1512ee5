package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/atomicfile"
)

// findUserLocal returns the directory of the user-local data of a workspace, "" if there is none.
// Of several it chooses the one named after root, or else the one with the newest entry, by jp's
// rule.
func findUserLocal(env Env, root, wsid string) string {
	parent := env.userData()
	if parent == "" || wsid == "" {
		return ""
	}
	list, err := os.ReadDir(parent)
	if err != nil {
		return ""
	}
	var silos []string
	for _, d := range list {
		if d.IsDir() && (d.Name() == wsid || strings.HasSuffix(d.Name(), "-"+wsid)) {
			silos = append(silos, filepath.Join(parent, d.Name()))
		}
	}
	own := filepath.Join(parent, siloName(root, wsid))
	switch {
	case len(silos) == 0:
		return ""
	case slices.Contains(silos, own):
		return own
	}
	return slices.MaxFunc(silos, func(a, b string) int {
		return cmp.Or(newest(a).Compare(newest(b)), cmp.Compare(a, b))
	})
}

// ErrStrange reports user-local data of another workspace.
var ErrStrange = errors.New("its link does not point to this workspace")

// shares reports whether the workspace at jp may use the user-local data at dir. Data without a
// link may be that of any workspace with the id.
func (e Env) shares(dir, jp string) bool {
	if e.Shares == nil {
		return true
	}
	to, err := linkOf(dir)
	if err != nil || to == "" {
		return e.Shares(dir, "")
	}
	theirs, err1 := os.Stat(to)
	ours, err2 := os.Stat(jp)
	return err1 == nil && err2 == nil && os.SameFile(theirs, ours) || e.Shares(dir, to)
}

func siloName(root, wsid string) string { return filepath.Base(root) + "-" + wsid }

// newest returns jp's age of a directory: the time of its newest entry, or else its own.
func newest(dir string) time.Time {
	var latest time.Time
	list, _ := os.ReadDir(dir) // an unreadable directory counts as old
	for _, d := range list {
		if info, err := d.Info(); err == nil && info.ModTime().After(latest) {
			latest = info.ModTime()
		}
	}
	if info, err := os.Stat(dir); err == nil && latest.IsZero() {
		latest = info.ModTime()
	}
	return latest
}

// makeUserLocal creates the user-local storage of a workspace as jp does, with the link by which jp
// finds the workspace.
func makeUserLocal(env Env, root, wsid string) (string, error) {
	data := env.userData()
	switch {
	case data == "":
		return "", ErrNoUserData
	case wsid == "":
		return "", errNoID
	}
	dir, jp := filepath.Join(data, siloName(root, wsid)), filepath.Join(root, DirName)
	// The directory is private, so that its content is, whatever the modes of the files below it.
	if err := atomicfile.MkdirPrivate(dir); err != nil {
		return "", fmt.Errorf("make directory of user-local conversations: %w", err)
	}
	// A new link must not take over data that another workspace left there.
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 && !env.shares(dir, jp) {
		return "", fmt.Errorf("use %q: %w", dir, errors.Join(err, ErrStrange))
	}
	err := os.Symlink(jp, filepath.Join(dir, linkName))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("link %q to the workspace: %w", dir, err)
	}
	if !env.shares(dir, jp) {
		return "", fmt.Errorf("use %q: %w", dir, ErrStrange)
	}
	return dir, nil
}
