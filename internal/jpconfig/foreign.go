package jpconfig

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/harmless"
	"github.com/git-jp/git-jp/internal/trust"
)

// A judge decides key by key which foreign settings count: those in the table of harmless settings,
// and those that are approved. Settings that start a process, choose a host, name a variable or
// reach outside the workspace are kept, since they can only be read through a gate.
//
// It never removes a value of the user's own layers: if foreign settings remove, replace or reorder
// it, that has no effect.
type judge struct {
	config   *Config // its all are the layers as jp would merge them
	table    table
	approved func(trust.Claim) bool

	chosen map[string]bool // providers that the user chose

	claims   []trust.Claim // for settings that count once approved
	replaces []trust.Claim // for settings that would replace the user's own text
	left     []string      // dotted keys that do not count
	aliases  []heldAlias
	held     map[string]trust.Claim
	warnings []Warning
}

// judged returns the effective configuration, and the judge with its claims and warnings.
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

// admit reduces foreign settings to those that count.
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

// verdict judges one path at which the user's own layers differ from all layers.
func (j *judge) verdict(path []string, own, all settings.Setting) settings.Verdict {
	_, isLeaf := j.table.leaf(path)
	guarded, leads := isGuarded(path)
	switch {
	case !all.IsSet(), isNothing(own, all, isLeaf):
		return settings.KeepOwn // a foreign layer removes it, or says nothing
	case slices.Contains(loadTime(), path[0]), path[0] == "config_load_paths", isOurs(path):
		return j.leave(path) // it has had its effect, or internal/config reads it
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

// leaf judges a key with a value.
func (j *judge) leaf(path []string, own, all settings.Setting) settings.Verdict {
	row, ok := harmless.Find(path)
	switch {
	case namesModel(path):
		return j.model(path, all, ok && row.Admits(all.Value()))
	case isUnset(path, all.Value()):
		return j.leave(path)
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

// add adds foreign text to the user's. Replacing the user's needs an approval.
func (j *judge) add(path []string, own, all settings.Setting) settings.Verdict {
	if j.mine(own) && !all.Holds(own) && j.takesPlace(path, all) {
		return settings.TakeAll
	}
	return settings.AddTo
}

// ask adds a claim for a value.
func (j *judge) ask(path []string, all settings.Setting) settings.Verdict {
	claim := j.config.claim(trust.Setting, all.Value(), path...)
	j.claims = append(j.claims, claim)
	if j.approved(claim) {
		return settings.TakeAll
	}
	return j.leave(path)
}

// guarded judges settings that can only be read through a gate.
func (j *judge) guarded(path []string, own, all settings.Setting) settings.Verdict {
	switch {
	case slices.Equal(path, []string{"conversation", "attachments"}),
		slices.Equal(path, []string{"editor", "envs"}):
		if all.IsList() {
			return j.add(path, own, all)
		}
		return j.leave(path)
	case path[1] == "mcp" && !j.says(path, "command") && !j.says(path, "url"):
		return settings.TakeAll // the user changed a part of a foreign server
	case path[1] == "llm" && strings.HasPrefix(path[3], "base_url") &&
		(j.says(path[:3], "base_url") || j.says(path[:3], "base_url_env")):
		return j.leave(path) // the user has a host, by either key
	case path[1] == "llm" && path[3] != "api_key_env" && all.IsTable():
		return j.leave(path)
	case j.mine(own):
		return j.leave(path)
	}
	return settings.TakeAll
}

// guardedKeys are the settings that can only be read through a gate.
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

// isGuarded reports whether a setting as a whole can only be read through a gate, and whether it is
// a table above such settings.
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

// tool judges settings of a tool, whose claim covers the complete tool. Foreign settings do not
// change what the user sets for a tool.
func (j *judge) tool(path []string, own, all settings.Setting) settings.Verdict {
	switch {
	case len(path) == 3 && all.IsTable():
		return settings.Members
	case j.redirects(path, all):
		return j.ask(path, all)
	case !j.mine(own) && !j.lifts(path, all),
		len(path) == 4 && path[3] == "timeout" && shorter(all, own):
		return settings.TakeAll
	case all.IsTable() && own.IsTable() && (path[3] == "style" || !j.declares(path[:3])):
		return settings.Members
	case j.takesPlace(path, all):
		return settings.TakeAll
	}
	return j.leave(path)
}

// redirects reports whether a source offers something of the user's under a name of others: a
// built-in tool under another name, for which what the user sets for it would not hold, or a tool
// of the user's own MCP server, of which the user names each tool that a model may call.
func (j *judge) redirects(path []string, all settings.Setting) bool {
	if len(path) != 4 || path[3] != "source" {
		return false
	}
	kind, rest, _ := strings.Cut(text(all), ".")
	switch kind {
	case "builtin":
		return rest != "" && rest != path[2]
	case "mcp":
		server, _, _ := strings.Cut(rest, ".")
		at := []string{"providers", "mcp", server}
		return j.says(at, "command") || j.says(at, "url")
	}
	return false
}

// lifts reports whether a setting of a tool would be less strict than what the user sets for all
// tools ('*'). What the claim of the tool covers is not judged here.
func (j *judge) lifts(path []string, all settings.Setting) bool {
	if len(path) != 4 || !slices.Contains([]string{"enable", "run", "result", "access"}, path[3]) {
		return false
	}
	forAll := []string{"conversation", "tools", "*"}
	own, ok := j.config.own.Setting(append(forAll, path[3])...)
	says := form(path, json.RawMessage(all.Value()))
	if !ok || !j.mine(own) || same(form(path, json.RawMessage(own.Value())), says) ||
		isEnable(path) && same(storedEnable([]byte("false")), says) {
		return false
	}
	switch string(all.Value()) {
	case `"skip"`:
		return false
	case `"ask"`:
		if string(own.Value()) != `"skip"` { // which runs no call, or delivers no result
			return false
		}
	}
	source, _ := j.config.all.Setting(append(slices.Clone(path[:3]), "source")...)
	switch kind, _, _ := strings.Cut(text(source), "."); kind {
	case "local":
		return path[3] == "result"
	case "mcp":
		return path[3] != "run"
	}
	return true
}

// text returns a value that is a string, "" for any other.
func text(s settings.Setting) (text string) {
	if s.IsSet() {
		_ = exact.Unmarshal(s.Value(), &text)
	}
	return text
}

// shorter reports whether a limit is shorter than another.
func shorter(limit, than settings.Setting) bool {
	a, err := readLimit(limit.Value())
	b, other := readLimit(than.Value())
	return err == nil && (other != nil || a < b)
}

// takesPlace reports whether a foreign value may replace the user's own. That needs an approval,
// which a query does not ask for.
func (j *judge) takesPlace(path []string, all settings.Setting) bool {
	claim := j.config.claim(trust.Setting, all.Value(), path...)
	j.replaces = append(j.replaces, claim)
	return j.approved(claim)
}

// declares reports whether the user declares a tool, and does not only change a part of a foreign
// one.
func (j *judge) declares(path []string) bool {
	return j.says(path, "source") || j.says(path, "command")
}

// leave ignores a foreign setting.
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

// mine reports whether the user sets a value, beside the built-in one.
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

// isNothing reports whether a value has no effect: null, or an empty value where there was none
// before.
func isNothing(own, all settings.Setting, isLeaf bool) bool {
	v := string(all.Value())
	return v == "null" || (v == "{}" || v == "[]") && isLeaf && !own.IsSet()
}

// isOurs reports whether a key is one of git jp's, which internal/config reads.
func isOurs(path []string) bool {
	return config.IsKey(path) || config.IsKey(append([]string{"conversation"}, path...))
}
