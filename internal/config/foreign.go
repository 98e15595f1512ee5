package config

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/git-jp/git-jp/internal/harmless"
	"github.com/git-jp/git-jp/internal/trust"
)

// counts reports whether a committed value takes effect over the value without it: if it is in the
// table of harmless settings, or the user approved it.
func (c *Config) counts(st, without setting, found bool) bool {
	if st.key.Users {
		return false
	}
	if st.isHarmless(without, found) {
		return true
	}
	if !st.ours {
		return !found // keys of jp's are only shown
	}
	return c.approved(st.claim())
}

func (st setting) isHarmless(without setting, found bool) bool {
	row, ok := harmless.Find(st.path)
	switch {
	case !ok || row.Yields && found && without.origin.Layer != Default:
		return false
	case row.Kind == harmless.Longer:
		longer, isDuration := st.value.(time.Duration)
		than, _ := without.value.(time.Duration)
		return isDuration && longer > than
	}
	return row.Admits(st.text())
}

// claim returns the claim for the value.
func (st setting) claim() trust.Claim {
	return Claim(JoinKey(st.path), st.value, st.origin.String())
}

// Claim returns the claim to approve for a committed value of a key.
func Claim(key string, value any, origin string) trust.Claim {
	return trust.Claim{
		Kind: trust.Setting, Key: key, Value: string(setting{value: value}.text()), Origin: origin,
	}
}

// text returns the value as JSON, durations as they are written.
func (st setting) text() []byte {
	v := st.value
	if d, ok := v.(time.Duration); ok {
		v = d.String()
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil // cannot happen for a value of a file
	}
	return b
}

// Claims returns the claims of committed values of our keys that need an approval and change
// something.
func (c *Config) Claims() (all []trust.Claim) {
	for _, name := range c.Keys() {
		var won setting
		found := false
		for _, st := range c.stacks[name] {
			if st.key.Users {
				continue // an approval would change nothing
			}
			if !st.ours || !st.origin.Layer.Committed() || st.isHarmless(won, found) {
				won, found = st, true
				continue
			}
			if found && string(won.text()) == string(st.text()) {
				continue // the user's own layers have the same
			}
			all = append(all, st.claim())
			if c.approved(st.claim()) {
				won, found = st, true
			}
		}
	}
	return all
}

// Held returns the claims that are not approved.
func (c *Config) Held() []trust.Claim { return slices.DeleteFunc(c.Claims(), c.approved) }

// LeftOut returns the faults of keys in committed files, and in others if [Dirs.Lenient] is set,
// and the keys there that only the user decides, each a [*KeyError].
func (c *Config) LeftOut() []error {
	all := slices.Clone(c.leftOut)
	for _, name := range c.Keys() {
		for _, st := range c.stacks[name] {
			if st.key.Users && st.origin.Layer.Committed() {
				all = append(all, &KeyError{Origin: st.origin, Key: name, Err: errOfUsers})
			}
		}
	}
	return all
}

var errOfUsers = errors.New("it counts only in the user's own configuration")

// Misplaced returns our settings in a file of jp's, each a [*KeyError]. They take effect, as in the
// RFDs; but today's jp refuses to start if it finds an unknown key.
func (c *Config) Misplaced() (all []error) {
	for _, name := range c.Keys() {
		for _, st := range c.stacks[name] {
			if layer := st.origin.Layer; st.ours && (layer == UserJP || layer == WorkspaceJP) {
				all = append(all, &KeyError{Origin: st.origin, Key: name, Err: errMisplaced})
			}
		}
	}
	return all
}

var errMisplaced = errors.New("jp does not start on this key, it belongs into " + OwnFile)
