package leaks

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// BesideDirs returns the directories below .jp with files that belong to a conversation but are not
// in its directory: redaction entries, allowed findings, and records of its removal. Someone who
// gets the conversation without them brings redacted or removed text back with the next import.
func BesideDirs() []string {
	return []string{secrets.RedactedDir, secrets.AllowedDir, workspace.RemovedDir}
}

// BesideNamed returns the conversation that the name of a file in one of [BesideDirs] has, without
// reading it. The name of an allowed finding has none, and needs to be read.
func BesideNamed(name string) (id events.ID, ok bool) {
	if path.Dir(name) == secrets.AllowedDir {
		return 0, false
	}
	return events.ParseDirname(strings.TrimSuffix(path.Base(name), path.Ext(name)))
}

// MayBeside reports whether a file in one of [BesideDirs] can belong to one of the wanted
// conversations, by its name. Then [Memo.Beside] decides.
func MayBeside(name string, wanted func(events.ID) bool) bool {
	id, ok := BesideNamed(name)
	return ok && wanted(id) || path.Dir(name) == secrets.AllowedDir
}

// Beside returns the conversation to which a file in one of [BesideDirs] belongs. The name is below
// .jp. A file that cannot be parsed, or whose name does not match its content, belongs to none: it
// counts for nothing.
func (m *Memo) Beside(
	name string, e check.Entry, read func() ([]byte, error),
) (id events.ID, err error) {
	var digits string
	switch path.Dir(name) {
	case secrets.AllowedDir:
		var entry secrets.Allowed
		entry, err = m.readAllowed(name, e, read)
		digits = entry.Conversation
	case secrets.RedactedDir:
		var entry secrets.Redaction
		entry, err = m.readRedacted(name, e, read)
		digits = entry.Conversation
	default:
		m.reads++
		data, err := read()
		if err != nil {
			return 0, err
		}
		return parseRemoved(name, data)
	}
	if err != nil {
		return 0, err
	}
	id, ok := events.ParseDirname(digits)
	if !ok {
		return 0, fmt.Errorf("its conversation is %q", digits)
	}
	return id, nil
}

// parseRemoved is Beside for the record of a removal: the session that it has must be that of
// the conversation in its name.
func parseRemoved(name string, data []byte) (events.ID, error) {
	var record struct {
		Session string `json:"session"`
	}
	if err := json.Unmarshal(data, &record); err != nil {
		return 0, err
	}
	id, ok := BesideNamed(name)
	ids := events.SessionIDs(record.Session)
	if !ok || !slices.Contains(ids[:], id) ||
		path.Base(name) != events.Dirname(id, "")+path.Ext(name) || path.Ext(name) != ".json" {
		return 0, secrets.ErrName
	}
	return id, nil
}
