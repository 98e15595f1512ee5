package jpconfig

import (
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/harmless"
	"github.com/git-jp/git-jp/internal/trust"
)

// A judge decides what of others' settings counts, key by key: what the table of harmless
// settings has, and what is approved. What starts a process, chooses a host, names a variable
// or reaches out of the workspace passes, since it comes out through a gate only.
//
// It never takes away what the user's own layers say: what others remove, replace or reorder
// of it stays as it was.
type judge struct {
	config   *Config // all is what jp would make of the layers
	table    table
	approved func(trust.Claim) bool

	chosen map[string]bool // providers that the user chose

	claims   []trust.Claim // what counts when it is approved
	replaces []trust.Claim // what would take the place of the user's own words
	left     []string      // keys, dotted, that do not count
	aliases  []heldAlias
	held     map[string]trust.Claim
	warnings []Warning
}

// judged returns what holds, and the judge with what was found on the way.
func (l *loader) judged() (settings.Config, *judge) {
	j := &judge{
		config: l.config, table: l.table, approved: l.sources.Approved,
		held: map[string]trust.Claim{},
	}
	if j.approved == nil {
		j.approved = func(trust.Claim) bool { return false }
	}
	j.chosen = j.providers()
	all := l.config.all.Judge(l.config.own, j.verdict)
	j.typedAliases()
	return all, j
}

// admit leaves of what others said what counts.
func (l *loader) admit() error {
	all, j := l.judged()
	l.config.all, l.config.left = all, j.left
	l.config.settings, l.config.replaces = j.claims, j.replaces
	l.config.aliases, l.config.held = j.aliases, j.held
	l.config.waiting = slices.DeleteFunc(slices.Clone(j.claims), j.approved)
	for _, w := range j.warnings {
		l.config.warn(w)
	}
	return nil
}

// verdict judges one place where the user's own layers do not say what all layers say.
func (j *judge) verdict(path []string, own, all settings.Setting) settings.Verdict {
	_, isLeaf := j.table.leaf(path)
	guarded, leads := isGuarded(path)
	switch {
	case !all.IsSet(), isNothing(own, all, isLeaf):
		return settings.KeepOwn // somebody else took it away, or says nothing
	case slices.Contains(loadTime(), path[0]), path[0] == "config_load_paths", isOurs(path):
		return j.leave(path) // its work is done elsewhere
	case guarded:
		return j.guarded(path, own, all)
	case leads && all.IsTable():
		return settings.Members
	case len(path) > 2 && path[0] == "conversation" && path[1] == "tools":
		return j.tool(path, own, all)
	case !isLeaf && j.table.known(path) == 0:
		j.warn(path, UnknownKey)
		return j.leave(path)
	case !isLeaf && !all.IsTable():
		j.warn(path, "left out: want a table")
		return j.leave(path)
	case !isLeaf:
		return settings.Members
	}
	return j.leaf(path, own, all)
}

// leaf judges a key that has a value.
func (j *judge) leaf(path []string, own, all settings.Setting) settings.Verdict {
	row, ok := harmless.Find(path)
	switch {
	case namesModel(path):
		return j.model(path, all, ok && row.Admits(all.Value()))
	case !ok || !row.Admits(all.Value()):
		return j.ask(path, all)
	case row.Yields && j.mine(own):
		return j.leave(path)
	case row.Kind == harmless.Model:
		return j.alias(path, all)
	case row.Kind == harmless.Prompt || row.Kind == harmless.List:
		return j.add(path, own, all)
	}
	return settings.TakeAll
}

// add puts others' words to the user's. That they take their place needs an approval.
func (j *judge) add(path []string, own, all settings.Setting) settings.Verdict {
	if j.mine(own) && !all.Holds(own) && j.takesPlace(path, all) {
		return settings.TakeAll
	}
	return settings.AddTo
}

// ask makes a claim of a value.
func (j *judge) ask(path []string, all settings.Setting) settings.Verdict {
	claim := j.config.claim(trust.Setting, all.Value(), path...)
	j.claims = append(j.claims, claim)
	if j.approved(claim) {
		return settings.TakeAll
	}
	return j.leave(path)
}

// guarded judges what comes out through a gate only.
func (j *judge) guarded(path []string, own, all settings.Setting) settings.Verdict {
	switch {
	case slices.Equal(path, []string{"conversation", "attachments"}),
		slices.Equal(path, []string{"editor", "envs"}):
		if all.IsList() {
			return j.add(path, own, all)
		}
		return j.leave(path)
	case path[1] == "mcp" && !j.says(path, "command") && !j.says(path, "url"):
		return settings.TakeAll // the user changed a word of somebody else's server
	case path[1] == "llm" && strings.HasPrefix(path[3], "base_url") &&
		(j.says(path[:3], "base_url") || j.says(path[:3], "base_url_env")):
		return j.leave(path) // the user has a host, however it is told
	case path[1] == "llm" && path[3] != "api_key_env" && all.IsTable():
		return j.leave(path)
	case j.mine(own):
		return j.leave(path)
	}
	return settings.TakeAll
}

// guardedKeys are the settings that come out through a gate only.
var guardedKeys = sync.OnceValue(func() (all table) {
	for _, key := range []string{
		"conversation.attachments", "conversation.labels.*", "editor.cmd", "editor.envs",
		"plugins.command.*", "providers.mcp.*", "providers.llm.*.base_url",
		"providers.llm.*.base_url_env", "providers.llm.*.api_key_env",
	} {
		all = append(all, pattern{path: strings.Split(key, ".")})
	}
	return all
})

// isGuarded reports whether a setting comes out through a gate only, as a whole, or is a
// table above such settings.
func isGuarded(path []string) (is, leads bool) {
	for _, p := range guardedKeys() {
		is, _, above := p.match(path)
		if is {
			return true, false
		}
		leads = leads || above
	}
	return false, leads
}

// tool judges what is said of a tool, which is guarded as a whole elsewhere. What the user
// says of a tool is not for others to change.
func (j *judge) tool(path []string, own, all settings.Setting) settings.Verdict {
	switch {
	case len(path) == 3 && all.IsTable():
		return settings.Members
	case !j.mine(own), len(path) == 4 && path[3] == "timeout" && shorter(all, own):
		return settings.TakeAll
	case all.IsTable() && own.IsTable() && (path[3] == "style" || !j.declares(path[:3])):
		return settings.Members
	case j.takesPlace(path, all):
		return settings.TakeAll
	}
	return j.leave(path)
}

// shorter reports whether one limit is below another.
func shorter(limit, than settings.Setting) bool {
	a, err := readLimit(limit.Value())
	b, other := readLimit(than.Value())
	return err == nil && (other != nil || a < b)
}

// takesPlace reports whether others' value may take the place of the user's own, which needs
// an approval that nobody is asked for during a query.
func (j *judge) takesPlace(path []string, all settings.Setting) bool {
	claim := j.config.claim(trust.Setting, all.Value(), path...)
	j.replaces = append(j.replaces, claim)
	return j.approved(claim)
}

// declares reports whether a tool is the user's, who did not just say a word about
// somebody else's.
func (j *judge) declares(path []string) bool {
	return j.says(path, "source") || j.says(path, "command")
}

// leave leaves out what others say.
func (j *judge) leave(path []string) settings.Verdict {
	j.left = append(j.left, strings.Join(path, "."))
	return settings.KeepOwn
}

func (j *judge) warn(path []string, text string) {
	key := strings.Join(path, ".")
	_, origins, _ := j.config.Value(path...)
	j.warnings = append(j.warnings, Warning{
		Where: last(origins).At(path...), Key: key, Text: text,
	})
}

// mine reports whether the user says something, beside what is built in.
func (j *judge) mine(own settings.Setting) bool {
	return own.IsSet() && slices.ContainsFunc(own.Sources(), func(source int) bool {
		return j.config.origins[source].Layer != BuiltIn
	})
}

// says is mine for a key of a table.
func (j *judge) says(path []string, key string) bool {
	own, ok := j.config.own.Setting(append(slices.Clone(path), key)...)
	return ok && j.mine(own)
}

// isNothing reports whether a value says nothing: null, or what is empty where there was
// nothing before.
func isNothing(own, all settings.Setting, isLeaf bool) bool {
	v := string(all.Value())
	return v == "null" || (v == "{}" || v == "[]") && isLeaf && !own.IsSet()
}

// isOurs reports whether a key is one of git jp's, which internal/config reads.
func isOurs(path []string) bool {
	return config.IsKey(path) || config.IsKey(append([]string{"conversation"}, path...))
}
