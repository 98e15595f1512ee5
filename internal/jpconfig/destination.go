package jpconfig

import (
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/trust"
)

// A heldAlias is a foreign short name for a model of a provider that the user did not choose.
type heldAlias struct {
	name  string
	claim trust.Claim
}

// modelPlaces returns the paths at which a model may be named.
func modelPlaces() [][]string {
	return lists.Map(strings.Split(models, ","), func(place string) []string {
		return append(strings.Split(place, "."), "id")
	})
}

func namesModel(path []string) bool {
	return slices.ContainsFunc(modelPlaces(), func(place []string) bool {
		return slices.Equal(place, path)
	})
}

// providers returns the providers that the user chose, by settings for them or a model of theirs.
func (j *judge) providers() map[string]bool {
	chosen := map[string]bool{}
	own := j.config.own
	add := func(raw []byte) {
		id, err := resolve(func(name string) ([]byte, error) {
			return aliasIn(own, name), nil
		}, raw, nil)
		if err == nil {
			chosen[id.Provider] = true
		}
	}
	for _, place := range modelPlaces() {
		if s, ok := own.Setting(place...); ok {
			add(s.Value())
		}
	}
	tables, _ := own.Setting("providers", "llm")
	if !tables.IsTable() {
		return chosen
	}
	for _, name := range tables.Names() {
		s, _ := own.Setting("providers", "llm", name)
		switch {
		case name == "aliases" && s.IsTable():
			for _, alias := range s.Names() {
				add(aliasIn(own, alias))
			}
		case name != "aliases" && j.mine(s):
			chosen[name] = true
		}
	}
	return chosen
}

// lookUp returns the value of a short name. The user's own takes precedence, and a foreign one
// cannot redefine provider/name.
func (j *judge) lookUp(name string) ([]byte, error) {
	if v := aliasIn(j.config.own, name); v != nil {
		return v, nil
	}
	if strings.Contains(name, "/") {
		return nil, nil
	}
	return aliasIn(j.config.all, name), nil
}

// model judges a foreign setting that names a model. A model of a provider that the user chose
// counts if the table of harmless settings has the path; another provider is a claim of its own.
func (j *judge) model(path []string, all settings.Setting, harmless bool) settings.Verdict {
	id, err := resolve(j.lookUp, all.Value(), nil)
	if err != nil {
		j.warn(path, "left out: "+err.Error())
		return j.leave(path)
	}
	counts := j.sends(id.Provider, path)
	if !harmless {
		claim := j.config.claim(trust.Setting, all.Value(), path...)
		j.claims = append(j.claims, claim)
		counts = j.approved(claim) && counts
	}
	if counts {
		return settings.TakeAll
	}
	if harmless {
		j.held[strings.Join(path[:len(path)-1], ".")] = j.destination(id.Provider, path)
	}
	return j.leave(path)
}

// sends reports whether conversations may be sent to a provider. It adds a claim if that needs an
// approval.
func (j *judge) sends(provider string, path []string) bool {
	if j.chosen[provider] {
		return true
	}
	claim := j.destination(provider, path)
	same := func(c trust.Claim) bool { return c.Kind == claim.Kind && c.Key == claim.Key }
	if !slices.ContainsFunc(j.claims, same) {
		j.claims = append(j.claims, claim)
	}
	return j.approved(claim)
}

// destination returns the claim for sending conversations to a provider.
func (j *judge) destination(provider string, path []string) trust.Claim {
	at := []string{"providers", "llm", provider}
	claim := trust.Claim{
		Kind: trust.Provider, Key: strings.Join(at, "."), Value: string(quote(provider)),
		Origin: j.config.claim(trust.Provider, nil, path...).Origin,
	}
	for _, c := range []settings.Config{j.config.all, j.config.own} { // the user's own wins
		if s, ok := c.Setting(append(at, "base_url")...); ok {
			claim.Value = string(canonical(s.Value()))
		}
	}
	return claim
}

// alias judges a foreign short name by the provider of its model.
func (j *judge) alias(path []string, all settings.Setting) settings.Verdict {
	name := path[len(path)-1]
	id, err := resolve(j.lookUp, all.Value(), []string{name})
	switch {
	case strings.Contains(name, "/"):
		j.warn(path, "left out: it would give a new meaning to the name of a model")
		return j.leave(path)
	case err != nil || j.chosen[id.Provider]:
		return settings.TakeAll // it refers to no model; whoever uses it gets an error
	}
	claim := j.destination(id.Provider, path)
	if j.approved(claim) {
		return settings.TakeAll
	}
	j.aliases = append(j.aliases, heldAlias{name, claim})
	return j.leave(path)
}

// typedAliases adds claims for the providers of foreign short names that the user uses.
func (j *judge) typedAliases() {
	for _, place := range modelPlaces() {
		s, ok := j.config.own.Setting(place...)
		if !ok || aliasIn(j.config.own, text(s)) != nil {
			continue
		}
		for _, a := range j.aliases {
			if a.name == text(s) {
				j.claims = append(j.claims, a.claim)
			}
		}
	}
}
