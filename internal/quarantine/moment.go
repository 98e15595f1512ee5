package quarantine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// Moment returns the time in the name of what comes into a directory next, behind a prefix: now, or
// the first one that is later than those of all names there. So the order of names is the order in
// which things came, also after the clock was set back.
func Moment(dir, prefix string, now time.Time) (string, error) {
	next := now.UTC()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok || len(name) < len(stamp) {
			continue
		}
		at, err := time.Parse(stamp, name[:len(stamp)])
		if err == nil && next.Format(stamp) <= at.Format(stamp) {
			next = at.Add(time.Millisecond)
		}
	}
	moment := next.Format(stamp)
	if len(moment) != len(stamp) {
		return "", fmt.Errorf("%s: a name there has the last time that a name can have", dir)
	}
	return moment, nil
}
