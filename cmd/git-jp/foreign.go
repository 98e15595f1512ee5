package main

import (
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/trust"
)

// tellSettings reports which settings of the workspace at root have no effect, and which of jp's,
// by their claims. Settings that the user declined are not reported.
func tellSettings(a *app, root string, c *config.Config, ofJP ...trust.Claim) {
	held := append(c.Held(), ofJP...)
	if len(held) > 0 {
		if approvals, err := a.host().Approvals(root); err == nil {
			held = slices.DeleteFunc(held, approvals.Declined)
		}
	}
	switch len(held) {
	case 0:
	case 1:
		claim := held[0]
		a.warn("%s = %s of %s has no effect until you approve it: '%s'",
			claim.Key, claim.Value, a.short(claim.Origin),
			(&trust.RefusedError{Claim: claim}).Approval())
	default:
		keys := lists.Map(held, func(claim trust.Claim) string { return claim.Key })
		a.warn("settings of other people have no effect until you approve them "+
			"with 'git jp trust': %s", strings.Join(keys, ", "))
	}
	for _, err := range c.LeftOut() {
		a.warn("left out: %v", err)
	}
	for _, err := range c.Misplaced() {
		a.warn("%v", err)
	}
}

// approveSet approves for this clone what the user just set by hand.
func approveSet(a *app, root, key string) error {
	a.openConfig = nil
	conf, err := a.configAt(root)
	if err != nil {
		return nil //nolint:nilerr // faults of other keys are not this command's
	}
	own := slices.DeleteFunc(conf.Held(), func(c trust.Claim) bool { return c.Key != key })
	approvals, err := a.host().Approvals(root)
	if len(own) == 0 || err != nil {
		return nil //nolint:nilerr // then the next command says that it does not count
	}
	a.openConfig = nil
	return approvals.Approve(a.now(), own...)
}
