package report

import (
	"errors"
	"slices"

	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/envelope"
	"github.com/git-jp/git-jp/internal/sqlite"
)

// sessionHints help if sessions of agents could not be imported: one hint for each kind of error.
func sessionHints(err error) (all []string) {
	for _, h := range []struct {
		err  error
		hint string
	}{
		{
			importer.ErrConflict,
			"'git jp fork <id>' keeps what is here; after 'git jp rm <id>', " +
				"'git jp import --again' takes what the agent has",
		},
		{importer.ErrRemoved, "'--again' imports it anyway"},
		{importer.ErrTaken, "'git jp rm <id>' makes room; '--dry-run' shows what would come"},
		{
			importer.ErrOwnSecret,
			"'git jp import <agent> --redact-own' leaves it out of what this import makes;" +
				" docs/secrets.md says what that means for others",
		},
		{
			importer.ErrUnknown,
			"'git jp import' lists what can be imported; '-' takes envelopes from standard input",
		},
		{
			sessions.ErrMark,
			"restore the session's first line from a backup; " +
				"'git jp export' writes a session to go on with anew",
		},
		{sessions.ErrTooLarge, sizeHint},
		{sessions.ErrTooMany, sizeHint},
		{sqlite.ErrBusy, "import again when the agent is done"},
		{
			sqlite.ErrDamaged,
			"'sqlite3 <file> .recover | sqlite3 <copy>' saves what can be read; import the copy",
		},
		{sqlite.ErrUnknown, newerHint},
		{envelope.ErrVersion, newerHint},
	} {
		if errors.Is(err, h.err) && !slices.Contains(all, h.hint) {
			all = append(all, h.hint)
		}
	}
	return all
}

// sizeHint is for a session whose stream would be larger than the limit for reading.
const sizeHint = "where you know whose it is: " +
	"'git jp config set --user storage.max_stream_bytes <size>'"

// newerHint is for data that a later version may know.
const newerHint = "a newer git-jp may know it"
