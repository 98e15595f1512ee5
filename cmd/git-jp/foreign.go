package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/trust"
)

// approvedIn returns what tells of claims whether the user approved them in the workspace at
// root. The approvals are read when somebody else says something that is not known to be
// harmless.
func (a *app) approvedIn(root string) func(trust.Claim) bool {
	var approvals *trust.Approvals
	read := false
	return func(c trust.Claim) bool {
		if !read {
			read = true
			approvals, _ = a.approvalsAt(root) // what cannot be read approves nothing
		}
		return approvals != nil && approvals.Allow(c) == nil
	}
}

// load reads the configuration, with what others set that is approved. Where somebody can be
// asked about the rest, it is settled first.
func (k *talk) load(flags map[string][]byte) (*jpconfig.Config, error) {
	conf, err := jpconfig.Load(k.sources(flags))
	if err != nil || k.prompter == nil || k.explains {
		return conf, err
	}
	asker, ok := k.gate.(*trust.Asker)
	if !ok || k.settled {
		return conf, nil
	}
	held := slices.DeleteFunc(conf.Held(), asker.Approvals.Declined)
	if len(held) == 0 {
		return conf, nil
	}
	k.settled = true // to ask once is enough
	for i := range held {
		held[i].Origin = k.app.short(held[i].Origin)
	}
	if err := asker.Settle(held); err != nil {
		return nil, err
	}
	return jpconfig.Load(k.sources(flags))
}

// tellLeftOut says in a line each what of others' settings does not count: what is not approved,
// and what nobody knows.
func (k *talk) tellLeftOut() {
	var keys []string
	asker, _ := k.gate.(*trust.Asker)
	for _, c := range slices.Concat(k.settings.Held(), k.config.Held()) {
		no := asker != nil && asker.Approvals.Declined(c)
		if !no && !slices.Contains(keys, c.Key) {
			keys = append(keys, c.Key)
		}
	}
	if len(keys) > 0 {
		k.app.warn("left out until you approve: %s; 'git jp trust' asks", strings.Join(keys, ", "))
	}
	var unknown []string
	for _, w := range k.config.Warnings() {
		below := func(key string) bool { return strings.HasPrefix(w.Key, key+".") }
		if w.Text == jpconfig.UnknownKey && w.Where != "-c" && !slices.ContainsFunc(keys, below) {
			unknown = append(unknown, w.Key)
		}
	}
	if len(unknown) > 0 && !k.app.Verbose { // else each was told with its place
		k.app.warn("left out, not known: %s", strings.Join(unknown, ", "))
	}
}

// tellSettings says what of the settings of the workspace at root does not count. What the user
// said no to is no news.
func (a *app) tellSettings(root string, c *config.Config) {
	held := c.Held()
	if len(held) > 0 {
		if approvals, err := a.approvalsAt(root); err == nil && approvals != nil {
			held = slices.DeleteFunc(held, approvals.Declined)
		}
	}
	switch len(held) {
	case 0:
	case 1:
		claim := held[0]
		a.warn("%s = %s of %s does not count until you approve it: 'git jp trust %s'",
			claim.Key, claim.Value, a.short(claim.Origin), claim.Key)
	default:
		keys := make([]string, len(held))
		for i, claim := range held {
			keys[i] = claim.Key
		}
		a.warn("%s of others do not count until you approve them: 'git jp trust'",
			strings.Join(keys, ", "))
	}
	for _, err := range c.LeftOut() {
		a.warn("left out: %v", err)
	}
	for _, err := range c.Misplaced() {
		a.warn("%v", err)
	}
}

// approveSet approves for this clone what the user just set by hand.
func (a *app) approveSet(root, key string) error {
	a.openConfig = nil
	conf, err := a.configAt(root)
	if err != nil {
		return nil //nolint:nilerr // faults of other keys are not this command's
	}
	own := slices.DeleteFunc(conf.Held(), func(c trust.Claim) bool { return c.Key != key })
	approvals, err := a.approvalsAt(root)
	if len(own) == 0 || err != nil || approvals == nil {
		return nil //nolint:nilerr // then the next command says that it does not count
	}
	a.openConfig = nil
	return approvals.Approve(a.now(), own...)
}

// refusal is why a model is not asked, with the id that approves it.
func (k *talk) refusal(err error) error {
	refused := new(trust.RefusedError)
	if !errors.As(err, &refused) || k.gate == nil {
		return err
	}
	if again := trust.WithoutAsking(k.gate).Allow(refused.Claim); again != nil {
		return again
	}
	return err
}
