package intake

import (
	"fmt"
	"time"

	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/sessions"
)

// A Record is one session in JSON.
type Record struct {
	Session       string         `json:"session"`
	State         string         `json:"state"`
	ID            string         `json:"id,omitempty"`
	Title         string         `json:"title,omitempty"`
	Directory     string         `json:"directory,omitempty"`
	Bytes         int64          `json:"bytes"`
	ChangedAt     *time.Time     `json:"changed_at,omitempty"`
	Prompts       int            `json:"prompts,omitempty"`
	Calls         int            `json:"calls,omitempty"`
	Records       map[string]int `json:"records,omitempty"`
	Redacted      map[string]int `json:"redacted,omitempty"`
	Outside       map[string]int `json:"outside,omitempty"`
	Secrets       []LeftOut      `json:"secrets,omitempty"`
	BrokenLines   []int          `json:"broken_lines,omitempty"`
	Conversations []string       `json:"conversations,omitempty"`
	Apart         string         `json:"apart,omitempty"`
	Error         string         `json:"error,omitempty"`
}

// A LeftOut is a secret of a session, as a check would report it.
type LeftOut struct {
	Fingerprint string `json:"fingerprint"`
	Rule        string `json:"rule"`
	Event       string `json:"event"`
	Member      string `json:"member"`
	Bytes       int    `json:"bytes"`
	Allowed     bool   `json:"allowed"`

	detail string
}

// String returns its line.
func (l LeftOut) String() string {
	what := "secret "
	if l.Allowed {
		what = "allowed"
	}
	return fmt.Sprintf("  %s  %s  %s", what, l.Fingerprint, l.detail)
}

func (in Intake) record(s sessions.Session, state importer.State) Record {
	r := Record{
		Session: s.Name.String(), State: string(state), Title: in.Heading(s), Directory: s.Dir,
		Bytes: s.Size,
	}
	if !s.Changed.IsZero() {
		at := s.Changed.UTC()
		r.ChangedAt = &at
	}
	return r
}

// resultRecord returns the record of a session's result; the outcome is empty if the session was
// refused.
func (in Intake) resultRecord(res importer.Result) Record {
	out := res.Outcome
	r := in.record(res.Session, out.State)
	if res.Err != nil {
		r.State, r.Error = "refused", res.Err.Error()
	}
	r.Prompts, r.Calls = out.Report.Prompts, out.Report.Calls
	r.Records, r.Redacted = out.Report.Records, out.Report.Redacted
	r.Outside, r.Secrets = out.Report.Outside, leftOutOf(out, in.Exceptions)
	for _, b := range out.Report.Broken {
		r.BrokenLines = append(r.BrokenLines, b.Number)
	}
	if out.Apart != nil {
		r.Apart = out.Apart.Error()
	}
	for i, m := range out.Made {
		if i == 0 {
			r.ID, r.Title = m.ID.String(), m.Title
		}
		r.Conversations = append(r.Conversations, m.ID.String())
	}
	return r
}

func leftOutOf(out importer.Outcome, allowed secrets.Exceptions) (all []LeftOut) {
	for _, s := range out.Secrets {
		all = append(all, LeftOut{
			s.Fingerprint(), s.Rule, s.Event, s.Place, s.Match.End - s.Match.Start,
			allowed.Has(s.Allowed), s.String(),
		})
	}
	return all
}
