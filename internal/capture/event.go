package capture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

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

// An Event is what an agent's hook was told.
type Event struct {
	Moment  Moment
	Session string
	Path    string
	Dir     string
}

// maxEvent limits how much of an event is read: it may contain what was asked or answered.
const maxEvent = 32 << 20

// turn is the name of an event that lasts as long as the hook's input.
const turn = "session.turn"

// moments are the names of events. Any other event is in the middle of a turn.
var moments = map[string]Moment{
	"UserPromptSubmit": Begun, "BeforeAgent": Begun, "session.busy": Begun,
	turn:   Begun,
	"Stop": Ended, "AfterAgent": Ended, "session.idle": Ended, "SessionEnd": Ended,
}

// ReadEvents reads what a hook was told, in the agents' forms, each of which has its own names, and
// calls do with it. A turn that begins with the input ends with the input. If the context ends
// before that, its error is returned.
func ReadEvents(ctx context.Context, r io.Reader, do func(Event) error) error {
	var in input
	if err := json.NewDecoder(io.LimitReader(r, maxEvent)).Decode(&in); err != nil {
		return fmt.Errorf("read the event of a hook: %w", err)
	}
	e, err := in.event()
	if err == nil {
		err = do(e)
	}
	if err != nil || in.Name != turn {
		return err
	}
	over := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, r)
		over <- err
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err = <-over:
	}
	if err != nil {
		return fmt.Errorf("wait for the end of a turn: %w", err)
	}
	e.Moment = Ended
	return do(e)
}

// An input is an event as agents write it.
type input struct {
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

func (in input) event() (Event, error) {
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
		return e, errors.New("the event of a hook names no session and directory")
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
