package config

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-jp/git-jp/internal/regular"
)

// A Kind is the type of a key's value.
type Kind int

// The kinds of values. The Go type of a value is in parentheses.
const (
	String   Kind = iota // (string)
	Bool                 // (bool)
	Int                  // (int64), not negative
	Size                 // (int64) bytes; "50MiB" is understood
	Fraction             // (float64) from 0 to 1
	Money                // (float64) in US dollars, not negative
	Duration             // (time.Duration); "14d" and "2w" are understood
	Strings              // ([]string); one string is a list of one
)

// A Key is one setting of ours.
type Key struct {
	Name    string   // dotted; a segment <name> matches any tool
	Kind    Kind     //
	Default any      // nil if there is none
	Choices []string // the values of a String, or of each of Strings; nil for any
	Doc     string   // one line for users
	Users   bool     // counts only in the user's own configuration, whatever is approved

	path []string
}

const anyTool = "<name>"

func key(name string, kind Kind, def any, doc string) Key {
	return Key{Name: name, Kind: kind, Default: def, Doc: doc, path: strings.Split(name, ".")}
}

func (k Key) among(choices ...string) Key { k.Choices = choices; return k }

func (k Key) ofUsers() Key { k.Users = true; return k }

// IsOfUsers reports whether a key of ours counts only in the user's own configuration.
func IsOfUsers(name string) bool {
	path, err := SplitKey(name)
	if err != nil {
		return false
	}
	k, _ := schema(Known()).find(canonical(path))
	return k.Users
}

// Known returns every key of ours, sorted by name.
func Known() []Key {
	keys := slices.Concat(storageKeys(), networkKeys(), hookKeys(), conversationKeys(), toolKeys())
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	return keys
}

func storageKeys() []Key {
	return []Key{
		key("storage.format", String, "blobs",
			"where content is written: in the blob store, or inline so that jp reads them").
			among("blobs", "inline"),
		key("storage.max_blob_bytes", Size, int64(50<<20),
			"the largest content that is read or written"),
		key("storage.max_stream_bytes", Size, int64(regular.MaxStream),
			"the largest events.json that is read or written").ofUsers(),
		key("gc.auto", Bool, true,
			"collect unreferenced untracked blobs after a query when it is due"),
		key("gc.grace", Duration, 14*day, "how long an unreferenced blob is kept"),
	}
}

func networkKeys() []Key {
	return []Key{
		key("network.private_hosts", Strings, []string{},
			"hosts of private networks that attachments may be fetched from"),
		key("network.connect_timeout", Duration, 10*time.Second,
			"how long to wait for a connection to a model"),
		key("network.first_token_timeout", Duration, time.Duration(0),
			"how long to wait for an answer to begin; 0 for two minutes, ten in your networks"),
	}
}

func hookKeys() []Key {
	return []Key{
		key("hooks.stage", Bool, true,
			"pre-commit adds the blobs that staged conversations refer to"),
		key("hooks.check", String, "error", "what the hooks do about findings of the check").
			among("error", "warn", "off"),
		key("hooks.strict", Bool, false, "an incomplete last turn is an error, not a warning"),
		key("hooks.restore", Bool, true,
			"the hooks of merges and rebases restore content that git lost"),
		key("merge.blended", String, "replace",
			"a stream that git merged without our driver is merged again, or refused").
			among("replace", "refuse"),
		key("trim.schedule", String, "cold", "when what was already sent may be trimmed").
			among("never", "cold", "balanced", "eager"),
		key("trim.min_bytes", Int, int64(300), "superseded content up to this size is kept"),
		key("trim.min_turns", Int, int64(0),
			"so many turns must lie between a content and what supersedes it"),
		key("trim.min_delta", Fraction, 0.0,
			"the share of lines that must have changed for a superseded content to go"),
		key("trim.cache_turns", Int, int64(0), "content of the last so many turns is kept"),
	}
}

func conversationKeys() []Key {
	return []Key{
		key("conversation.deduplication.enabled", Bool, true,
			"send a reference where the model already has the content"),
		key("conversation.deduplication.min_bytes", Int, int64(300),
			"the size above which a resource is deduplicated"),
		key("conversation.deduplication.lookback_turns", Int, int64(30),
			"how many turns back the earlier delivery may lie"),
		key("conversation.deduplication.lines", Bool, true,
			"send only the lines that the model has not seen"),
		key("conversation.compaction.strategy", Strings, []string{"auto"},
			"the strategies of compact, from left to right").
			among("auto", "strip-reasoning", "strip-tool-results", "dedup-tools",
				"strip-attachments",
				"prune-tools", "trim-superseded", "summarize", "classify-tangents"),
		key("conversation.compaction.keep_last", Int, int64(1), "how many turns are left alone"),
		key("conversation.compaction.model", String, "", "the model that summarises"),
		key("conversation.compaction.summarize_threshold", Fraction, 0.5,
			"the share of the model's window above which auto summarises"),
		key("conversation.compaction.summarize_tokens", Int, int64(0),
			"the tokens above which auto summarises in any window; 0 for the share alone"),
		key("conversation.compaction.window", Int, int64(0),
			"the most tokens that your account may send to a model; 0 where it is the window"),
		key("conversation.max_cost", Money, 0.0,
			"the most US dollars that the requests of a query may cost; 0 for any amount"),
		key("conversation.max_requests", Int, int64(200),
			"how many requests a query makes while the model calls tools"),
		key("conversation.compaction.fork", Bool, true, "compact writes a fork"),
	}
}

func toolKeys() []Key {
	const tool = "conversation.tools." + anyTool
	return []Key{
		key(tool+".deduplicate", Bool, nil, "deduplicate the results of this tool"),
		key(tool+".compaction.response", String, nil, "what compaction leaves of a result").
			among("keep", "strip", "remove"),
		key(tool+".compaction.dedup", Bool, nil, "a repeated call replaces an earlier one"),
		key(tool+".compaction.subsumes", String, nil,
			"the rule that finds calls made obsolete; tool runs the tool's own action").
			among("none", "tool", "exact", "io-content", "directory-survey"),
		key(tool+".compaction.like", String, nil, "a known tool that does the same with files"),
	}
}

// match reports whether path is a key of this pattern.
func (k Key) match(path []string) bool {
	return len(path) == len(k.path) && k.matchPrefix(path)
}

// IsKey reports whether a key is one of ours, in any of its spellings.
func IsKey(path []string) bool {
	_, ours := ourKeys().find(canonical(path))
	return ours
}

// ourKeys caches the table for frequent queries.
var ourKeys = sync.OnceValue(func() schema { return Known() })

// matchPrefix reports whether path is a prefix of a key of this pattern.
func (k Key) matchPrefix(path []string) bool {
	if len(path) > len(k.path) {
		return false
	}
	for i, seg := range path {
		if k.path[i] != seg && k.path[i] != anyTool {
			return false
		}
	}
	return true
}

// A schema is the table of keys, made once for each load.
type schema []Key

func (s schema) find(path []string) (Key, bool) {
	for _, k := range s {
		if k.match(path) {
			return k, true
		}
	}
	return Key{}, false
}

func (s schema) leadsTo(path []string) bool {
	return slices.ContainsFunc(s, func(k Key) bool { return k.matchPrefix(path) })
}

// canonical replaces the spellings of the RFDs by ours.
func canonical(path []string) []string {
	if len(path) > 1 && path[0] == "tools" {
		path = slices.Concat([]string{"conversation"}, path)
	}
	if slices.Equal(path, []string{"conversation", "compaction", "summarize_model"}) {
		path = []string{"conversation", "compaction", "model"}
	}
	return path
}

// jpSection reports whether jp knows a top-level section of this name.
func jpSection(name string) bool {
	switch name {
	case "inherit", "config_load_paths", "extends", "loader", "assistant", "conversation", "style",
		"interrupt", "editor", "template", "providers", "plugins", "user":
		return true
	default:
		return false
	}
}
