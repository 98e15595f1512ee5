package importer

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/sessions"
)

// redactor returns a function that redacts the secrets in a text, except those that the workspace
// allows in its event.
func (im *Importer) redactor() func(sessions.Place, []byte, map[string]int) []byte {
	if im.Rules == nil {
		return nil
	}
	var leave []*secrets.Rules // rules for the user's own secrets
	if im.LeaveOwn {
		leave = im.Own
	}
	ids := map[sessions.Name]events.ID{}
	return func(at sessions.Place, text []byte, count map[string]int) []byte {
		var allowed func(string, []byte) bool
		if at.Key != "" && len(im.Exceptions) > 0 {
			id, ok := ids[at.Session]
			if !ok {
				id = im.idOf(at.Session)
				ids[at.Session] = id
			}
			allowed = func(rule string, value []byte) bool {
				return im.Exceptions.Allow(id, at.Key, rule, value)
			}
		}
		text, found := im.Rules.RedactExcept(at.Before, text, allowed)
		for _, rule := range leave {
			var own []secrets.Match
			text, own = rule.Redact(text)
			found = append(found, own...)
		}
		for _, m := range found {
			count[m.Rule]++
		}
		return text
	}
}

// refuse returns a function that returns an error for a text that contains one of the user's own
// secrets.
func refuse(own []*secrets.Rules) func(text []byte) error {
	return func(text []byte) error {
		for _, rule := range own {
			if len(rule.Scan(text)) > 0 {
				return ErrOwnSecret
			}
		}
		return nil
	}
}

// Heading returns the title of a session for lists, redacted as an import would redact it. It is ""
// if the title contains one of the user's own secrets, or if the importer has no rules.
func (im *Importer) Heading(s sessions.Session) string {
	text := []byte(s.Title)
	if leave := im.redactor(); leave != nil {
		text = leave(sessions.Place{Session: s.Name}, text, map[string]int{})
	}
	if im.Rules == nil || refuse(im.Own)(text) != nil {
		return ""
	}
	return sessions.FirstWords(string(text))
}

// rulesOf names what decides which secrets are left out of a conversation: the rules, and the
// exceptions that it has.
func (im *Importer) rulesOf(n sessions.Name) string {
	rules := im.Rules.Digest()
	if x := im.Exceptions.Digest(im.idOf(teller(n))); x != "" {
		rules += "." + x
	}
	return rules
}

// teller returns the session in which a conversation was recorded: that of a rewound fork is the
// session that was rewound.
func teller(n sessions.Name) sessions.Name {
	n.ID, _, _ = strings.Cut(n.ID, "@")
	return n
}

// Findings returns the secrets that an import of a session redacts, or would without exceptions, as
// a check reports them: a secret whose fingerprint is allowed is kept. Secrets in text without a
// key of the source cannot be allowed and are left out.
func (im *Importer) Findings(
	ctx context.Context, d sessions.Dialect, s sessions.Session,
) ([]secrets.Finding, error) {
	return im.newJob(d, s).findings(ctx)
}

func (j *job) findings(ctx context.Context) (found []secrets.Finding, err error) {
	if j.Rules == nil {
		return nil, nil
	}
	contents, o := held{}, j.Options
	o.Writer = contents
	all, err := j.buildBy(ctx, o, 0)
	if err != nil {
		return nil, err
	}
	scanner, seen := secrets.Scanner{Rules: j.Rules}, map[secrets.Allowed]bool{}
	for _, c := range all {
		named := func(i int) bool {
			_, ok := c.Stream.At(i).Metadata().Text(sessions.MetadataSource)
			return ok
		}
		id := j.idOf(teller(c.Name))
		if _, ok := j.known.origin(teller(c.Name)); ok {
			c.Stream = behind(c, c.Name)
		}
		more, err := scanner.Stream(id, c.Stream, named, contents)
		if err != nil {
			return nil, fmt.Errorf("look for secrets in %s: %w", c.Name, err)
		}
		for _, f := range more {
			if !seen[f.Allowed] { // a rewound fork repeats the turns before it
				seen[f.Allowed] = true
				found = append(found, f)
			}
		}
	}
	return found, nil
}
