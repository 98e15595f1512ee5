package house

import (
	"path"
	"slices"
)

// A room says what one package is and may do.
type room struct {
	dir       string // one ending in /* means all packages below it
	is        string
	imports   []string // packages of this module, "*" for all
	processes string   // which it starts, "" for none
	network   string   // what it connects to, "" for nothing
}

// rooms is the table of docs/rooms.md.
var rooms = slices.Concat(firstRooms, gitintRooms, otherRooms)

// firstRooms are the rows before those of gitint.
var firstRooms = []room{
	{
		dir:     "blobs",
		is:      "content addressed by SHA-256: hashes, references, lazily resolved content, the store",
		imports: []string{"internal/atomicfile", "internal/regular"},
	},
	{
		dir:     "events",
		is:      "the stream: codec, kinds, contents, turns and calls, sanitising, overlay, forks, equality; metadata; ids and slugs",
		imports: []string{"blobs", "internal/jsonspan"},
	},
	{
		dir: "internal/jsonspan",
		is:  "JSON in place: one scanner, where values stand, changes that leave all other bytes",
	},
	{
		dir:     "events/settings",
		is:      "jp's partial configurations: joining, differing, what was in force where",
		imports: []string{"events", "internal/jsonspan"},
	},
	{
		dir:     "events/threeway",
		is:      "merging streams, details and base configurations; conflicts; who knew which turn",
		imports: []string{"events", "internal/jsonspan", "events/settings", "blobs"},
	},
	{
		dir:     "internal/secrets",
		is:      "keys, passwords and tokens in text: rules, matches, allowed findings, redactions",
		imports: []string{"events", "blobs"},
	},
	{
		dir:     "dedup",
		is:      "what a model was given already, replaced by references and line runs; what a later result makes obsolete",
		imports: []string{"events", "blobs"},
	},
	{
		dir:     "compact",
		is:      "making conversations smaller: strategies, hints, report, summaries, what prompts cost",
		imports: []string{"events", "events/settings", "blobs", "dedup"},
	},
}

// otherRooms are the rows after those of gitint.
var otherRooms = []room{
	{
		dir:     "gc",
		is:      "deleting content: roots, mark, plan, sweep, quarantine and undo, why",
		imports: gcImports,
	},
	{
		dir:       "gc/mutants",
		is:        "tests that the collector's tests, and the second opinion, find its faults",
		imports:   []string{"gc"},
		processes: "go",
	},
	{
		dir:     "hooks",
		is:      "what each hook of git does",
		imports: hooksImports,
	},
	{
		dir:     "hooks/install",
		is:      "installing, chaining and removing hooks; drivers and attributes",
		imports: []string{"gitint", "internal/atomicfile", "internal/regular"},
	},
	{
		dir:       "internal/recheck",
		is:        "the second opinion before a deletion, by a git of its own: the one exception from the one door to Git",
		imports:   []string{"blobs", "internal/regular"},
		processes: "git",
	},
	{
		dir: "internal/workspace",
		is:  "finding `.jp`, naming, listing, locking, loading, creating and changing conversations",
		imports: []string{
			"events", "blobs", "internal/atomicfile", "internal/filelock", "internal/parallel",
			"internal/regular",
		},
	},
	{
		dir:     "internal/ondemand",
		is:      "the blobs of a lazy clone: which are present, and fetching what is read in one request",
		imports: []string{"blobs", "gitint", "internal/spare", "internal/workspace"},
	},
	{
		dir:     "internal/spare",
		is:      "a second copy of what only a lazy clone has; finding what a reset left unnamed",
		imports: []string{"blobs", "gitint", "internal/regular", "internal/secrets"},
	},
	{
		dir:     "internal/refs",
		is:      "the references of a stream by its object id, cached",
		imports: []string{"events", "blobs", "gitint", "internal/atomicfile", "internal/jsonspan"},
	},
	{
		dir: "internal/check",
		is:  "findings on any tree, and the formats they are printed in",
		imports: []string{
			"events", "blobs", "gitint", "internal/parallel", "internal/refs", "internal/regular",
			"internal/spare", "internal/workspace",
		},
	},
	{
		dir:     "internal/redact",
		is:      "taking secrets out of a workspace's conversations, with entries that keep them out",
		imports: redactImports,
	},
	{
		dir: "internal/leaks",
		is:  "findings of secrets in the conversations of a tree",
		imports: []string{
			"events", "blobs", "gitint", "internal/check", "internal/refs", "internal/regular",
			"internal/secrets", "internal/trust", "internal/workspace",
		},
	},
	{
		dir:     "internal/stage",
		is:      "a conversation's closure into the index; what the commit hooks do",
		imports: stageImports,
	},
	{
		dir: "internal/staging",
		is:  "what is staged, what is not and what is incomplete, as people and programs read it",
		imports: []string{
			"events", "gitint", "internal/audit", "internal/check", "internal/render",
			"internal/stage", "internal/workspace",
		},
	},
	{
		dir:     "internal/repair",
		is:      "finding what is incomplete and fixing it; migrating between blobs and inline content",
		imports: repairImports,
	},
	{
		dir:     "internal/upkeep",
		is:      "collections, repairs and migrations as a person plans, agrees to and undoes them",
		imports: upkeepImports,
	},
	{
		dir:     "internal/merge",
		is:      "merging files for git, conflicts that wait for a person, textual merges of git",
		imports: mergeImports,
	},
	{
		dir:     "internal/resolve",
		is:      "deciding what a merge left to a person: questions, answers that are remembered, reviews",
		imports: resolveImports,
	},
	{
		dir:     "internal/update",
		is:      "merging a base into the branch that is checked out",
		imports: []string{"blobs", "gitint", "hooks", "hooks/install", "internal/audit", "internal/merge", "internal/regular", "internal/render", "internal/resolve"},
	},
	{
		dir:     "internal/audit",
		is:      "what check and merge find in revisions, ranges, pushes and merges of a repository",
		imports: auditImports,
	},
	{
		dir:     "internal/report",
		is:      "how a command ended: errors, hints, exit codes; the commands that mend a finding",
		imports: reportImports,
	},
	{
		dir:     "internal/doctor",
		is:      "what is wrong with a clone that a check of conversations cannot see",
		imports: doctorImports,
	},
	{
		dir:     "internal/register",
		is:      "the hooks, drivers and attributes of a clone installed and removed for a person",
		imports: []string{"gitint", "hooks/install", "internal/render", "internal/workspace"},
	},
	{
		dir:     "internal/revisions",
		is:      "what commits did to one conversation, and one as a place has it, to be compared",
		imports: []string{"events", "events/threeway", "blobs", "gitint", "internal/audit", "internal/ondemand", "internal/render", "internal/workspace"},
	},
	{
		dir:     "internal/setup",
		is:      "choosing a provider and a model with a person, and trying it",
		imports: []string{"events", "internal/ask", "internal/llm", "internal/llm/models", "internal/prepare"},
	},
	{
		dir:     "internal/search",
		is:      "finding text in a conversation, inside blobs and base64 too, and in those of all refs",
		imports: []string{"events", "blobs", "gitint", "internal/ondemand", "internal/workspace"},
	},
	{
		dir:     "internal/listing",
		is:      "conversations as people list, look at and choose them",
		imports: []string{"events", "internal/parallel", "internal/render", "internal/search", "internal/workspace"},
	},
	{
		dir: "internal/shelf",
		is:  "conversations moved into the archive and out of it, and deleted, in the index too",
		imports: []string{
			"events", "gitint", "internal/ask", "internal/importer", "internal/listing",
			"internal/stage", "internal/workspace",
		},
	},
	{
		dir:     "internal/grep",
		is:      "what a search of conversations finds, as lines, groups, records and counts",
		imports: []string{"events", "internal/listing", "internal/render", "internal/search"},
	},
	{
		dir:     "internal/sessions",
		is:      "sessions of coding agents as conversations: names, keys, turns, records",
		imports: []string{"events", "blobs", "compact", "dedup", "internal/jsonspan", "internal/regular", "internal/secrets"},
	},
	{
		dir:     "internal/sessions/*",
		is:      "a reader for each agent",
		imports: []string{"internal/sessions", "internal/llm", "internal/regular", "internal/sqlite", "events", "blobs", "compact"},
	},
	{
		dir:     "internal/sqlite",
		is:      "reading tables of SQLite databases that other programs write, without locks and without writing",
		imports: []string{"internal/regular"},
	},
	{
		dir:     "internal/importer",
		is:      "taking agents' sessions into a workspace: which belong to it, growth, what was changed or removed here",
		imports: []string{"events", "events/threeway", "blobs", "internal/atomicfile", "internal/capture", "internal/parallel", "internal/regular", "internal/secrets", "internal/sessions", "internal/sessions/claude", "internal/sessions/codex", "internal/sessions/copilot", "internal/sessions/envelope", "internal/sessions/gemini", "internal/sessions/llm", "internal/sessions/opencode", "internal/workspace"},
	},
	{
		dir:     "internal/intake",
		is:      "importing agents' sessions for a person or a hook: listing, the agreement, what became of each",
		imports: intakeImports,
	},
	{
		dir: "internal/handover",
		is:  "conversations as sessions with which coding agents go on",
		imports: []string{
			"events", "events/settings", "blobs", "internal/jpconfig", "internal/llm",
			"internal/llm/wire", "internal/query", "internal/sessions", "internal/sessions/claude",
			"internal/sessions/codex", "internal/atomicfile", "internal/regular",
		},
	},
	{
		dir:       "internal/capture",
		is:        "hooks in the settings of coding agents, and what they note of sessions that grew",
		imports:   []string{"internal/atomicfile", "internal/jsonspan", "internal/regular", "internal/sessions"},
		processes: "git-jp",
	},
	{
		dir: "internal/stats",
		is:  "what conversations have cost, by the usage that is recorded in them",
		imports: []string{
			"events", "events/settings", "blobs", "compact", "internal/compaction", "internal/llm",
			"internal/llm/models",
		},
	},
	{
		dir: "internal/figures", is: "what conversations hold and cost, and compactions save, as tables and charts",
		imports: []string{"compact", "internal/render", "internal/stats"},
	},
	{
		dir: "internal/view",
		is:  "conversations as HTML: pages that need no network and no script, and in which nothing of theirs runs",
		imports: []string{
			"blobs", "events", "internal/edits", "internal/gfm", "internal/llm/models",
			"internal/render", "internal/sessions", "internal/stats", "internal/workspace",
		},
	},
	{
		dir: "internal/web",
		is:  "the pages for a browser on this machine",
		imports: []string{
			"events", "blobs", "gitint", "internal/blame", "internal/ondemand",
			"internal/parallel", "internal/render", "internal/review", "internal/revisions",
			"internal/search", "internal/update", "internal/view", "internal/workspace",
		},
		network: "loopback",
	},
	{
		dir:     "internal/blame",
		is:      "the turns that lines of a file come from: by the commit, and by the calls that wrote them",
		imports: []string{"events", "gitint", "internal/render", "internal/review", "internal/view", "internal/regular"},
	},
	{
		dir:     "internal/recall",
		is:      "conversations for agents, as an MCP server that only reads",
		imports: []string{"events", "gitint", "internal/blame", "internal/render", "internal/review", "internal/search", "internal/update", "internal/view", "internal/web", "internal/workspace"},
	},
	{
		dir:     "internal/review",
		is:      "what a branch added to conversations, as the comment of a pull request",
		imports: []string{"events", "blobs", "gitint", "internal/ondemand", "internal/render", "internal/workspace"},
	},
	{
		dir: "internal/site",
		is:  "a folder of such pages with a list and a search, made again by what changed",
		imports: []string{
			"events", "gitint", "internal/atomicfile", "internal/blame", "internal/regular",
			"internal/render", "internal/review", "internal/revisions", "internal/search",
			"internal/sessions", "internal/view", "internal/workspace",
		},
	},
	{
		dir: "internal/quarantine",
		is:  "what commands quarantine before they change or remove it, and how long it stays",
		imports: []string{
			"events", "events/threeway", "blobs", "internal/atomicfile", "internal/regular",
		},
	},
	{
		dir: "internal/harmless",
		is:  "the table of settings that count although others wrote them",
	},
	{
		dir:     "internal/config",
		is:      "configuration files, typed settings, and who wrote a value",
		imports: []string{"internal/atomicfile", "internal/harmless", "internal/trust", "internal/regular"},
	},
	{
		dir: "internal/jpconfig",
		is:  "jp's configuration as jp reads it: layers, `extends`, `-c`, typed views, what needs an approval",
		imports: []string{
			"events", "events/settings", "internal/config", "internal/harmless", "internal/regular",
			"internal/tool/command", "internal/trust",
		},
	},
	{
		dir: "internal/trust",
		is:  "approvals of what others wrote: claims, guarded values, the question on the terminal",
		imports: []string{
			"internal/atomicfile", "internal/filelock", "internal/regular", "internal/render",
			"internal/tool/command",
		},
	},
	{
		dir:     "internal/llm",
		is:      "what a language model is asked and what streams back; retries, errors, ids and names of calls",
		imports: []string{"internal/llm/wire", "events", "blobs"},
		network: "yes",
	},
	{
		dir:     "internal/llm/wire",
		is:      "the HTTP client, streams of lines and events, and the rules that a body must keep",
		network: "yes",
	},
	{
		dir:     "internal/llm/*",
		is:      "an adapter for each wire format; `builtin` needs none, `llmtest` tests them",
		imports: []string{"internal/llm", "internal/llm/wire", "events", "blobs"},
		network: "yes",
	},
	{
		dir:     "internal/llm/models",
		is:      "models by name: providers, a dated table of windows and prices, making one of an id",
		imports: modelsImports,
		network: "yes",
	},
	{
		dir: "internal/schema",
		is:  "validating JSON against a foreign JSON Schema, in bounded time",
	},
	{
		dir:     "internal/tool",
		is:      "what a tool is; admitting calls, running them side by side, cutting results",
		imports: []string{"events", "blobs", "internal/schema", "internal/tool/command"},
	},
	{
		dir:     "internal/tool/file",
		is:      "canonical URIs of files, and access to those of the workspace only",
		imports: []string{"events", "blobs", "internal/atomicfile", "internal/regular", "internal/tool/command"},
	},
	{
		dir:     "internal/tool/builtin",
		is:      "reading, searching, changing files; looking at the repository; describing tools",
		imports: []string{"internal/tool", "internal/tool/file", "events", "blobs", "gitint"},
	},
	{
		dir:       "internal/tool/process",
		is:        "the one place that starts the user's programs, in process groups",
		imports:   []string{"internal/regular", "internal/tool"},
		processes: "the user's",
	},
	{
		dir: "internal/tool/command",
		is:  "where a model's words stand in a command line, what its program makes of them, which files it runs",
	},
	{
		dir:     "internal/tool/local",
		is:      "tools that are commands, as jp's configuration declares them",
		imports: []string{"internal/tool", "internal/tool/command", "internal/tool/file", "events", "blobs"},
	},
	{
		dir:     "internal/tool/mcp",
		is:      "MCP servers as tools and resources",
		imports: []string{"internal/tool", "internal/tool/file", "events", "blobs"},
		network: "yes",
	},
	{
		dir:     "internal/attach",
		is:      "handlers: URI to resource (file, http, cmd, mcp, jp)",
		imports: attachImports,
		network: "yes",
	},
	{
		dir: "internal/attached",
		is:  "what is attached to a conversation: listed, changed, printed",
		imports: []string{
			"events", "blobs", "internal/config", "internal/jpconfig", "internal/prepare",
			"internal/render", "internal/tool/file", "internal/trust", "internal/workspace",
		},
	},
	{
		dir: "internal/approval",
		is:  "what waits for an approval and what was approved: listed, given, asked about, revoked",
		imports: []string{
			"internal/config", "internal/jpconfig", "internal/leaks", "internal/prepare",
			"internal/render", "internal/trust", "internal/workspace",
		},
	},
	{
		dir: "internal/configure",
		is:  "settings of git jp and of jp: printed, changed, read back",
		imports: []string{
			"blobs", "internal/config", "internal/jpconfig", "internal/prepare", "internal/regular",
			"internal/render", "internal/trust", "internal/workspace",
		},
	},
	{
		dir:     "internal/query",
		is:      "one turn: the request from the conversation, the loop of answers and tools, what is saved when",
		imports: queryImports,
	},
	{
		dir: "internal/commandline",
		is:  "the man page of a command line, and what can stand next in it, by its model",
	},
	{
		dir: "internal/compaction",
		is:  "what configuration, the table of models and the record say of a compaction; saving it",
		imports: []string{
			"events", "blobs", "compact", "dedup", "internal/config", "internal/jpconfig",
			"internal/leaks", "internal/llm", "internal/llm/models", "internal/quarantine",
			"internal/workspace",
		},
	},
	{
		dir:     "internal/compactor",
		is:      "compacting a conversation for a person: forks, in place, rules, pins, undo, differences",
		imports: compactorImports,
	},
	{
		dir:     "internal/question",
		is:      "a person's question: its text and draft, the conversation that it goes to, what it cost",
		imports: questionImports,
	},
	{
		dir:     "internal/prepare",
		is:      "opening what a question or a compaction needs: configuration, model, tools, servers, attachments",
		imports: prepareImports,
	},
	{
		dir:       "internal/ask",
		is:        "asking at a terminal: the answer as it comes, questions to a person, interrupts, the editor",
		imports:   askImports,
		processes: "editor",
	},
	{
		dir: "internal/edits",
		is:  "what calls of tools are about: commands, files, the changes that they ask for",
	},
	{
		dir: "internal/gfm",
		is:  "Markdown with GitHub's tables, strikethrough and task lists, in time that its length bounds",
	},
	{
		dir:       "internal/render",
		is:        "terminal, Markdown and JSON; tables, progress; the only place that writes escape codes",
		imports:   []string{"events", "events/settings", "events/threeway", "blobs", "internal/edits", "internal/gfm"},
		processes: "pager",
	},
	{
		dir:     "internal/atomicfile",
		is:      "the one way a file is replaced",
		imports: []string{"internal/filelock", "internal/parallel", "internal/regular"},
	},
	{
		dir:     "internal/outfile",
		is:      "the files that a user named for an answer, never one of git or of a workspace",
		imports: []string{"internal/atomicfile", "internal/workspace"},
	},
	{
		dir: "internal/regular",
		is:  "the one opener of files that others fill: regular ones, of a bounded size",
	},
	{
		dir: "internal/exact",
		is:  "JSON by the exact names of members, which package encoding/json takes in any case; all may import it",
	},
	{
		dir: "internal/lists",
		is:  "lists and sets of others, as package slices does not make them; all may import it",
	},
	{
		dir: "internal/filelock",
		is:  "the system's locks of open files, as jp takes them",
	},
	{
		dir: "internal/parallel",
		is:  "a loop whose rounds run several at a time",
	},
	{
		dir: "internal/trace",
		is:  "the log of git commands",
	},
	{
		dir: "internal/house",
		is:  "the house as tests: this table, its laws, its documents",
	},
	{
		dir: "internal/tools",
		is:  "pinned developer tools",
	},
	{
		dir: "internal/tools/*",
		is:  "`release`, which lists what a release consists of; `platforms`, go vet for other systems",
	},
	{
		dir: "internal/agents",
		is:  "tests with the real agents, from npm, and a provider on loopback; run by `make test-agents`",
	},
	{
		dir: "internal/view/browser",
		is:  "tests of pages in a real browser, a module of its own; run by `make test-browser`",
	},
	{
		dir:       "internal/bench",
		is:        "the comparisons of performance.md; run by `make bench`",
		imports:   benchImports,
		processes: "git, git-jp",
		network:   "loopback",
	},
	{
		dir:       "internal/gittest",
		is:        "repositories for tests",
		processes: "git",
	},
	{
		dir:       "internal/scripts",
		is:        "the program on PATH for tests of all of it: scripts and their commands",
		imports:   []string{"gitint", "hooks/install", "internal/ask", "internal/stage"},
		processes: "git, git-jp",
		network:   "loopback",
	},
	{
		dir: "internal/scripts/*",
		is:  "tests of the whole program: scripts of some commands, what people do together, faults, others' settings",
	},
	{
		dir: "internal/realdata",
		is:  "real conversations for tests",
	},
	{
		dir:     "cmd/git-jp",
		is:      "commands, one file each",
		imports: []string{"*"},
	},
	{
		dir: "internal/house/*",
		is:  "`make metrics`: the figures of the code beside their limits",
	},
}

// roomOf returns the row of the package in dir.
func roomOf(dir string) (room, bool) {
	for _, name := range []string{dir, path.Dir(dir) + "/*"} {
		if i := slices.IndexFunc(rooms, func(r room) bool { return r.dir == name }); i >= 0 {
			return rooms[i], true
		}
	}
	return room{}, false
}
