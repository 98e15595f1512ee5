package jpconfig

import (
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/harmless"
	"github.com/git-jp/git-jp/internal/lists"
)

// A kind is the type of a key's value, as far as assignments depend on it.
type kind byte

const (
	kindText   kind = 's'
	kindBool   kind = 'b'
	kindNumber kind = 'n'
	kindLoose  kind = 'x' // a word, a number, or true and false
	kindPrompt kind = 'p' // text that layers append to
	kindList   kind = 'l' // that layers append to
	kindPlain  kind = 'L' // a list that replaces
	kindTree   kind = 'o' // anything: keys below are not checked
	kindAny    kind = 'v' // the same, or a value of kindLoose
)

// keys are jp's keys, each after its kind. A * matches any name. Braces have alternatives.
const keys = `
b inherit
l config_load_paths
L extends
s loader.reset
s user.name
o template.values
s assistant.name
p {assistant,conversation.inquiry.assistant}.system_prompt
l {assistant,conversation.inquiry.assistant}.{system_prompt_sections,instructions}
s {assistant,conversation.inquiry.assistant}.tool_choice
s conversation.inquiry.assistant.name
o {MODEL}.id
n {MODEL}.parameters.{max_tokens,temperature,top_p,top_k}
v {MODEL}.parameters.reasoning
l {MODEL}.parameters.stop_words
o {MODEL}.parameters.other
v {MODEL}.parameters.*
n {assistant,conversation.inquiry.assistant}.request.{max_retries,base_backoff_ms}
n {assistant,conversation.inquiry.assistant}.request.{max_backoff_secs,stream_idle_timeout_secs}
x {assistant,conversation.inquiry.assistant}.request.{cache,max_response_bytes}
l conversation.attachments
l conversation.compaction.rules
s conversation.default_id
b conversation.start_local
o conversation.labels
b conversation.title.from_heading
b conversation.title.generate.auto
o conversation.tools.*.options
o conversation.tools.*.parameters
o conversation.tools.*.questions
o conversation.tools.*.command
s conversation.tools.*.{source,summary,description,examples,run,result,format,cancellation_response}
s conversation.tools.*.timeout
x conversation.tools.*.enable
x conversation.tools.*.enable.{state,allow_toggle}
l conversation.tools.*.access.{fs,env,net}
b conversation.tools.*.style.{hidden,joins_reasoning,print_stderr}
o conversation.tools.*.style.{inline_results,error}
s conversation.tools.*.style.results_file_link
o conversation.tools.*.style.parameters
b style.code.{color,line_numbers}
s style.code.{copy_link,file_link}
x style.inline_code.background
s style.markdown.{hr_style,theme}
n style.markdown.{table_max_column_width,wrap_width}
b style.markdown.table_continuation_edge
x style.reasoning.{background,display}
b style.reasoning.extend_across_tool_calls
b style.{streaming,tool_call}.progress.show
n style.{streaming,tool_call}.progress.{delay_secs,interval_ms}
x style.tool_call.progress.stderr_rows
b style.tool_call.{show,preparing.show}
n style.tool_call.preparing.{delay_secs,interval_ms}
b style.{lock_wait,mcp_startup}.show
n style.{lock_wait,mcp_startup}.{delay_secs,interval_ms,timeout_secs}
x style.mcp_startup.stderr_rows
s style.typewriter.{text_delay,code_delay,max_latency}
n interrupt.escalation_cooldown_secs
s interrupt.{streaming,tool_call}.action
x interrupt.{streaming,tool_call}.compose_in_editor
o editor.cmd
l editor.envs
s editor.inline.edit_mode
o providers.llm.aliases
s providers.llm.*.{base_url,base_url_env,codex_base_url,codex_base_url_env}
s providers.llm.*.{app_name,app_referrer,subscription_flow,api_key_header,format}
o providers.llm.*.{api_key_env,acp_config_dirs}
L providers.llm.*.auth
l providers.llm.*.beta_headers
b providers.llm.*.chain_on_max_tokens
s providers.mcp.*.{type,command,url}
l providers.mcp.*.{arguments,variables}
s providers.mcp.*.checksum.{algorithm,value}
b providers.mcp.*.optional
n providers.mcp.*.startup_timeout_secs
o providers.mcp.*.headers
b plugins.auto_install
n plugins.shutdown_timeout_secs
s plugins.command.*.run
b plugins.command.*.install
s plugins.command.*.checksum.{algorithm,value}
o plugins.command.*.options
`

// models are the paths at which a model may be named.
const models = "assistant.model,conversation.inquiry.assistant.model," +
	"conversation.title.generate.model,style.reasoning.summary_model"

// open reports whether keys below one of this kind are not checked.
func (k kind) open() bool { return k == kindTree || k == kindAny }

// A pattern is one key of the table.
type pattern struct {
	kind kind
	path []string
}

// A table is all keys, made once for each load.
type table []pattern

// patterns returns the expanded table, with git jp's keys after jp's.
func patterns() table {
	var all table
	for line := range strings.SplitSeq(strings.TrimSpace(keys), "\n") {
		line = strings.ReplaceAll(line, "{MODEL}", "{"+models+"}")
		for _, key := range harmless.Spell(line[2:]) {
			all = append(all, pattern{kind(line[0]), strings.Split(key, ".")})
		}
	}
	for _, k := range config.Known() {
		name := strings.ReplaceAll(k.Name, "<name>", "*")
		for _, key := range []string{name, strings.TrimPrefix(name, "conversation.")} {
			all = append(all, pattern{kindTree, strings.Split(key, ".")})
		}
	}
	return append(all, pattern{kindTree, []string{"conversation", "compaction", "summarize_model"}})
}

// match reports whether path is the key, is below it, or is a prefix of it.
func (p pattern) match(path []string) (is, below, above bool) {
	for i := range min(len(path), len(p.path)) {
		if p.path[i] != "*" && p.path[i] != path[i] {
			return false, false, false
		}
	}
	return len(path) == len(p.path), len(path) > len(p.path), len(path) < len(p.path)
}

// known returns the kind of a key, 0 for an unknown key. A table above keys is known too.
func (t table) known(path []string) kind {
	var found kind
	for _, p := range t {
		is, below, above := p.match(path)
		switch {
		case is:
			return p.kind
		case below && p.kind.open(), above:
			found = kindTree
		}
	}
	return found
}

// judgeTable warns of unknown keys in a table.
func (l *loader) judgeTable(o Origin, at []string, table map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		path := append(slices.Clone(at), name)
		sub, isTable := table[name].(map[string]any)
		switch {
		case l.table.known(path) == 0:
			l.warn(o.At(path...), strings.Join(path, "."), UnknownKey)
		case isTable && !wraps(sub) && !l.table.isTree(path):
			l.judgeTable(o, path, sub)
		}
	}
}

// isTree reports whether keys below path are not checked.
func (t table) isTree(path []string) bool {
	return slices.ContainsFunc(t, func(p pattern) bool {
		is, below, _ := p.match(path)
		return p.kind.open() && (is || below)
	})
}

// wraps reports whether a table has a value with its merge strategy.
func wraps(table map[string]any) bool {
	if _, ok := table["strategy"]; !ok {
		_, ok = table["value"]
		return ok && len(table) < 4
	}
	return true
}

// fromEnvironment returns the key for the name of a variable: its path in upper case with
// underscores for dots. A name within the path, such as a tool's, is matched as short as possible.
func (t table) fromEnvironment(name string) ([]string, bool) {
	words := strings.Split(strings.ToLower(name), "_")
	for _, p := range t {
		if path, ok := p.spell(words); ok {
			return path, true
		}
	}
	return nil, false
}

// spell matches words with the key.
func (p pattern) spell(words []string) ([]string, bool) {
	if len(p.path) == 0 {
		return nil, len(words) == 0
	}
	rest := pattern{p.kind, p.path[1:]}
	if p.path[0] != "*" {
		own := strings.Split(p.path[0], "_")
		if len(own) > len(words) || !slices.Equal(own, words[:len(own)]) {
			return nil, false
		}
		path, ok := rest.spell(words[len(own):])
		return append([]string{p.path[0]}, path...), ok
	}
	for n := 1; n <= len(words); n++ {
		if path, ok := rest.spell(words[n:]); ok {
			return append([]string{strings.Join(words[:n], "_")}, path...), true
		}
	}
	return nil, false
}

// KnownKeys returns jp's keys that this version knows, sorted; a * matches any name.
func KnownKeys() []string {
	all := lists.Map(patterns(), func(p pattern) string { return strings.Join(p.path, ".") })
	slices.Sort(all)
	return slices.Compact(all)
}
