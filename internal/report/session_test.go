package report

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/envelope"
	"github.com/git-jp/git-jp/internal/sqlite"
)

// TestSessionHints verifies that each reason for not importing a session comes with a way out, and
// several reasons with each of theirs.
func TestSessionHints(t *testing.T) {
	var all []error
	var want []string
	for _, tt := range []struct {
		err  error
		want string
	}{
		{importer.ErrConflict, "git jp fork"},
		{importer.ErrRemoved, "--again"},
		{importer.ErrTaken, "git jp rm"},
		{importer.ErrOwnSecret, "--redact-own"},
		{importer.ErrUnknown, "git jp import"},
		{sessions.ErrMark, "git jp export"},
		{sessions.ErrTooLarge, "storage.max_stream_bytes"},
		{sessions.ErrTooMany, "storage.max_stream_bytes"},
		{sqlite.ErrBusy, "import again"},
		{sqlite.ErrDamaged, ".recover"},
		{sqlite.ErrUnknown, "newer"},
		{envelope.ErrVersion, "newer"},
	} {
		got := hints(fmt.Errorf("session: %w", tt.err))
		if len(got) != 1 || !strings.Contains(got[0], tt.want) {
			t.Errorf("%v: hints %q, expected one with %q", tt.err, got, tt.want)
		}
		all, want = append(all, tt.err), append(want, got...)
	}
	if got := hints(errors.Join(all...)); !slices.Equal(got, slices.Compact(want)) {
		t.Errorf("all at once: hints %q", got)
	}
	if got := sessionHints(fs.ErrNotExist); got != nil {
		t.Errorf("no session: hints %q", got)
	}
}
