package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/secrets"
)

// A leftOut is what `import --dry-run` says of a secret in a session, which is what a check would.
type leftOut struct {
	Fingerprint string `json:"fingerprint"`
	Rule        string `json:"rule"`
	Event       string `json:"event"`
	Member      string `json:"member"`
	Bytes       int    `json:"bytes"`
	Allowed     bool   `json:"allowed"`

	detail string
}

// String is its line.
func (l leftOut) String() string {
	what := "secret "
	if l.Allowed {
		what = "allowed"
	}
	return fmt.Sprintf("  %s  %s  %s", what, l.Fingerprint, l.detail)
}

// leftOutOf returns the secrets of a session.
func leftOutOf(im *importer.Importer, out importer.Outcome) (all []leftOut) {
	for _, s := range out.Secrets {
		all = append(all, leftOut{
			s.Fingerprint(), s.Rule, s.Event, s.Member, s.Match.End - s.Match.Start,
			im.Exceptions.Has(s.Allowed), s.String(),
		})
	}
	return all
}

// allowImported commits to findings in sessions being no secrets.
func (a *app) allowImported(
	ctx context.Context, im *importer.Importer, sessions []importer.Found, fingerprints []string,
) error {
	if len(fingerprints) == 0 {
		return nil
	}
	named := map[string]secrets.Allowed{}
	for _, f := range sessions {
		if f.Err != nil {
			continue
		}
		found, err := im.Findings(ctx, f.Dialect, f.Session)
		if err != nil {
			return fmt.Errorf("%s: %w", sourceName(f), err)
		}
		for _, s := range found {
			named[s.Fingerprint()] = s.Allowed
		}
	}
	var entries []secrets.Allowed
	for _, fp := range fingerprints {
		entry, ok := named[strings.ToLower(fp)]
		if !ok {
			return fmt.Errorf("no finding of these sessions has the fingerprint %s", fp)
		}
		entries = append(entries, entry)
		im.Exceptions.Add(entry)
	}
	return a.commitAllowed(ctx, entries)
}
