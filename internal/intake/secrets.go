package intake

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Destination is the workspace that sessions are imported into, and the rules for text that must
// not come in.
type Destination struct {
	Workspace *workspace.Workspace
	Home      string // the user's
	// Off returns the rules that the user approved to be off, among those that the workspace names.
	Off func(dir string, names []string) []string
	// Own are the values of the user's own secrets. A session that contains one is refused: they
	// change what is written only if the user asks for that.
	Own []string
	// Restored is the importer's field of that name.
	Restored func() map[events.ID]events.ImportVersion
	Warn     func(format string, args ...any)
}

// NewImporter returns an importer into a workspace, by its settings and by what is committed about
// secrets. If any of that cannot be read it fails: a redacted text or a secret could come in.
func NewImporter(d Destination) (*importer.Importer, error) {
	w := d.Workspace
	entries, err := leaks.EntriesOf(w)
	if err != nil {
		return nil, err
	}
	for _, p := range entries.Problems {
		d.Warn("%s: %s", p.Path, p.Detail)
	}
	rules := secrets.Builtin().With(entries.Committed)
	rules = rules.Without(d.Off(workspace.DirName, entries.Committed.Off)...)
	exceptions := secrets.Exceptions{}
	for _, allowed := range entries.Allowed {
		exceptions.Add(allowed)
	}
	limits := w.Limits()
	own := lists.Map(d.Own, func(value string) *secrets.Rules {
		return secrets.ValueRules(secrets.Own, value)
	})
	return &importer.Importer{
		Workspace: w, Home: d.Home, Rules: rules, Own: own,
		Exceptions: exceptions, Redactions: entries.Redactions, Restored: d.Restored,
		Options: sessions.Options{
			MaxBlob: w.Blobs().Limits().Max(), MaxStream: limits.OfStream(),
		},
	}, nil
}

// Allow keeps findings in sessions that are no secrets, and returns the entries that say so.
func (in Intake) Allow(
	ctx context.Context, found []importer.Found, fingerprints []string,
) (entries []secrets.Allowed, err error) {
	if len(fingerprints) == 0 {
		return nil, nil
	}
	named := map[string]secrets.Allowed{}
	for _, f := range found {
		if f.Err != nil {
			continue
		}
		found, err := in.Findings(ctx, f.Dialect, f.Session)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sourceName(f), err)
		}
		for _, s := range found {
			named[s.Fingerprint()] = s.Allowed
		}
	}
	for _, fp := range fingerprints {
		entry, ok := named[strings.ToLower(fp)]
		if !ok {
			return nil, fmt.Errorf("no finding of these sessions has the fingerprint %s", fp)
		}
		entries = append(entries, entry)
		in.Exceptions.Add(entry)
	}
	return entries, nil
}
