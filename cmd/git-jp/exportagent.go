package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/handover"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// handedRecord is the record of `export --json` for a session that was written for an agent.
type handedRecord struct {
	Agent   string         `json:"agent"`
	Session string         `json:"session"`
	Path    string         `json:"path"`
	Command []string       `json:"command"`
	Left    map[string]int `json:"left_out,omitempty"`
}

// handOver writes a conversation as a session of an agent.
func (c exportCmd) handOver(a *app, agent sessions.Agent, e workspace.Entry) error {
	err := needsFiles(a, "export for "+string(agent),
		"'git worktree add <path>' makes one for the agent to continue in")
	if err != nil {
		return err
	}
	conv, err := a.openWorkspace.Load(e)
	if err != nil {
		return err
	}
	s, err := handover.Write(agent, handover.Conversation{
		ID: e.ID, Stream: conv.Stream, Details: conv.Details, BaseConfig: conv.BaseConfig,
		Contents: a.openWorkspace.BlobsOf(e), Root: a.openWorkspace.Root(), Places: placesOf(a),
	})
	if err != nil {
		return err
	}
	for _, what := range slices.Sorted(maps.Keys(s.Left)) {
		a.note("left out, since %s has no form for it: %s (%d)", agent, what, s.Left[what])
	}
	if err := c.hand(a, e, s); err != nil {
		return err
	}
	for _, ref := range s.LostRefs() {
		if err := s.Lost[ref]; !isNotHere(a, err) {
			a.warn("no content: sha256:%s: %s", ref, render.Reason(err))
		}
	}
	if len(s.Lost) > 0 {
		return report.ErrProblems
	}
	return nil
}

// hand puts a session where its agent, or the user, wants it.
func (c exportCmd) hand(a *app, e workspace.Entry, s *handover.Session) error {
	if c.Output != "" {
		return writeTo(a, c.Output, func(out io.Writer) error {
			_, err := out.Write(s.Data)
			return err
		})
	}
	if err := s.Keep(); err != nil {
		return fmt.Errorf("export %s: %w", e.ID, err)
	}
	if a.JSON {
		return a.printJSON(handedRecord{string(s.Agent), s.ID, s.Path, s.Command, s.Left})
	}
	_, err := fmt.Fprintln(a.stdout, strings.Join(s.Command, " "))
	return err
}
