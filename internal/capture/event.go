package capture

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
)

// A Moment is what a hook means for the session.
type Moment int

// The moments.
const (
	Within Moment = iota // something in the middle of a turn
	Begun                // a turn began
	Ended                // a turn or the session ended
)

// An Event is the input of an agent's hook.
type Event struct {
	Moment  Moment
	Session string
	Path    string
	Dir     string
}

// maxEvent limits how much of an event is read: it may contain what was asked or answered.
const maxEvent = 32 << 20

// moments are the names of events. Any other event is in the middle of a turn.
var moments = map[string]Moment{
	"UserPromptSubmit": Begun, "BeforeAgent": Begun, "session.busy": Begun,
	"Stop": Ended, "AfterAgent": Ended, "session.idle": Ended, "SessionEnd": Ended,
}

// ReadEvent reads an event in the agents' forms, each of which has its own names.
func ReadEvent(r io.Reader) (Event, error) {
	var in struct {
		Session   string  `json:"session_id"`
		Path      *string `json:"transcript_path"`
		Dir       string  `json:"cwd"`
		Name      string  `json:"hook_event_name"`
		SessionID string  `json:"sessionId"`
		File      string  `json:"transcriptPath"`
		Prompt    *string `json:"prompt"`
		Stopped   *string `json:"stopReason"`
		Reason    *string `json:"reason"`
	}
	data, err := regular.ReadAll(r, maxEvent)
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	if err != nil {
		return Event{}, fmt.Errorf("read the event of a hook: %w", err)
	}
	e := Event{Moment: moments[in.Name], Session: in.Session, Dir: in.Dir}
	if in.Path != nil {
		e.Path = *in.Path
	}
	if in.SessionID != "" { // Copilot CLI, whose events have no names
		e.Session, e.Path = in.SessionID, in.File
		switch {
		case in.Stopped != nil || in.Reason != nil:
			e.Moment = Ended
		case in.Prompt != nil:
			e.Moment = Begun
		}
	}
	if e.Session == "" || !filepath.IsAbs(e.Dir) {
		return e, fmt.Errorf("the event of a hook names no session and directory")
	}
	return e, nil
}

// Note returns the note for an event, for the workspace at root. Only the length of the transcript
// is read; if it is not a file, or does not exist yet, it is found by the session's id later.
func (e Event) Note(a sessions.Agent, root string) Note {
	n := Note{Agent: a, Session: e.Session, Root: root}
	if info, err := os.Lstat(e.Path); err == nil && info.Mode().IsRegular() {
		n.Path, n.Size = e.Path, info.Size()
	}
	return n
}
