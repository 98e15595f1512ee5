package prepare

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/trust"
)

// ApproveTyped approves what the user typed and the conversation will repeat: there it is foreign,
// and the next query would ask about it. What somebody else changed since the configuration was
// read, as a pull may while the user writes the question, is not typed.
func (q *Query) ApproveTyped(ctx context.Context) error {
	if !q.typed {
		return nil
	}
	// An approved setting may need a further approval as a part of another claim.
	for range 2 {
		next, err := q.afterwards()
		if err != nil {
			return err
		}
		paths, err := q.host.PathClaims(ctx, q.target.Workspace, next, true)
		if err != nil {
			return err
		}
		claims := append(next.Claims(), paths...)
		again, err := jpconfig.Load(q.sources(q.flags)) // after next, so that it has what next has
		if err != nil {
			return err
		}
		was, is := claimsOf(q.Config), claimsOf(again)
		own := typedClaims(was, claims, q.gate)
		own = slices.DeleteFunc(own, func(c trust.Claim) bool {
			return movedAway(c, q.Config, next) || changed(c.Key, was, is)
		})
		if err := q.host.ApproveOwn(q.gate, own); err != nil {
			return err
		}
	}
	return nil
}

// claimsOf returns the claims of the configuration, and one for each foreign attachment: an
// attachment does not become the user's when the user types it again.
func claimsOf(c *jpconfig.Config) []trust.Claim {
	all := c.Claims()
	for _, at := range c.Attachments() {
		if claim, foreign := at.Guarded().URL.Claim(); foreign && !slices.Contains(all, claim) {
			all = append(all, claim)
		}
	}
	return all
}

// afterwards returns the configuration that the next query will read.
func (q *Query) afterwards() (*jpconfig.Config, error) {
	s := q.sources(nil)
	s.Options = nil
	if q.target.Fresh {
		s.Base, s.Stream = jpconfig.Shareable(q.Config.JSON()), nil
		return jpconfig.Load(s)
	}
	s.Stream = s.Stream.Clone()
	s.Stream.Append(events.NewElement(
		q.host.Now(), &events.ConfigDelta{Delta: q.delta}, events.Metadata{}))
	return jpconfig.Load(s)
}

// typedClaims returns the claims of next that the user typed now. If the same setting also has a
// foreign part that is not approved, the claim is not the user's: whoever types that a tool runs
// unattended says nothing about its command.
func typedClaims(now, next []trust.Claim, gate trust.Gate) []trust.Claim {
	approved := trust.WithoutAsking(gate)
	return slices.DeleteFunc(slices.Clone(next), func(c trust.Claim) bool {
		return slices.ContainsFunc(now, func(other trust.Claim) bool {
			if c.Key != other.Key {
				return false
			}
			same := c.Kind == other.Kind && c.Value == other.Value
			return same || c.Key != jpconfig.AttachmentsKey && approved.Allow(other) != nil
		})
	})
}

// changed reports whether the claims of a setting are others than they were.
func changed(key string, was, is []trust.Claim) bool {
	values := func(all []trust.Claim) []string {
		var values []string
		for _, c := range all {
			if c.Key == key {
				values = append(values, string(c.Kind)+" "+c.Value)
			}
		}
		slices.Sort(values)
		return slices.Compact(values)
	}
	return !slices.Equal(values(was), values(is))
}

// movedAway reports whether a claim is for a provider that the user reached now at another address
// than the next query would: whoever types an address for one call chose that one.
func movedAway(c trust.Claim, now, next *jpconfig.Config) bool {
	provider, ok := strings.CutPrefix(c.Key, "providers.llm.")
	if !ok || c.Kind != trust.Provider {
		return false
	}
	return slices.ContainsFunc([]string{"base_url", "base_url_env"}, func(key string) bool {
		a, _, _ := now.Value("providers", "llm", provider, key)
		b, _, _ := next.Value("providers", "llm", provider, key)
		return !bytes.Equal(a, b)
	})
}
