package main

import (
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/trust"
)

// approveTyped approves what the user typed and the conversation is about to repeat: there
// it looks like anybody's, and the next query would ask about it.
func (k *talk) approveTyped() error {
	if !k.typed {
		return nil
	}
	// What counts once it is approved may have to be approved as a part of something else.
	for range 2 {
		next, err := k.afterwards()
		if err != nil {
			return err
		}
		paths, err := k.app.pathClaims(k.ctx, next, true)
		if err != nil {
			return err
		}
		claims := append(next.Claims(), paths...)
		own := typedClaims(k.claims(), claims, k.gate)
		if err := k.app.approveOwn(k.gate, own); err != nil {
			return err
		}
	}
	return nil
}

// claims are those of the configuration, with one for each attachment of others: to type it
// again does not make it the user's.
func (k *talk) claims() []trust.Claim {
	all := k.config.Claims()
	for _, at := range k.config.Attachments() {
		if c, foreign := at.Guarded().URL.Claim(); foreign && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// afterwards returns the configuration as the next query is going to find it.
func (k *talk) afterwards() (*jpconfig.Config, error) {
	s := k.sources(nil)
	s.Options = nil
	if k.target.Fresh {
		s.Base, s.Stream = jpconfig.Shareable(k.config.JSON()), nil
		return jpconfig.Load(s)
	}
	s.Stream = s.Stream.Clone()
	s.Stream.Append(events.NewElement(
		k.app.now(), &events.ConfigDelta{Delta: k.delta}, events.Metadata{}))
	return jpconfig.Load(s)
}

// typedClaims returns the claims of next that are the user's own now. Where somebody else has
// a part in the same setting now that is not approved, the whole is not the user's: to type
// that a tool runs unattended says nothing about its command.
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

// approveOwn approves claims that are the user's own words, and says so. Where approvals
// cannot be kept, the next query asks.
func (a *app) approveOwn(gate trust.Gate, claims []trust.Claim) error {
	asker, ok := gate.(*trust.Asker)
	if !ok {
		return nil
	}
	claims = unapproved(asker.Approvals, claims)
	if len(claims) == 0 {
		return nil
	}
	if err := asker.Approvals.Approve(a.now(), claims...); err != nil {
		return err
	}
	for _, c := range claims {
		a.note("approved %s here, since you typed it", c.Shown())
	}
	return nil
}
