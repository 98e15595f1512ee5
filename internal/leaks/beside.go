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
// in its directory: redaction entries, allowed findings, and records of its removal. If a clone has
// the conversation without these files, its next import restores redacted or removed text.
func BesideDirs() []string {
	return []string{secrets.RedactedDir, secrets.AllowedDir, workspace.RemovedDir}
}

// BesideNamed returns the conversation in the name of a file in one of [BesideDirs], and does not
// read the file. The name of an allowed finding does not contain its conversation.
func BesideNamed(name string) (id events.ID, ok bool) {
	if path.Dir(name) == secrets.AllowedDir {
		return 0, false
	}
	return events.ParseDirname(strings.TrimSuffix(path.Base(name), path.Ext(name)))
}

// MayBeside reports whether the name of a file in one of [BesideDirs] permits that it belongs to a
// wanted conversation. If so, [Memo.Beside] reads the file to decide.
func MayBeside(name string, wanted func(events.ID) bool) bool {
	id, ok := BesideNamed(name)
	return ok && wanted(id) || path.Dir(name) == secrets.AllowedDir
}

// Beside returns the conversation to which a file in one of [BesideDirs] belongs. The name is below
// .jp. It is an error if the file cannot be parsed or its name does not match its content: such a
// file is ignored everywhere.
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

// parseRemoved is Beside for the record of a removal. The session in the record must be that of the
// conversation in its name.
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
