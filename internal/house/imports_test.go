package house

// modelsImports are all adapters: models creates any of them.
var modelsImports = []string{
	"internal/llm", "internal/llm/anthropic", "internal/llm/builtin", "internal/llm/chat",
	"internal/llm/gemini", "internal/llm/ollama", "internal/llm/openai", "internal/llm/wire",
	"internal/regular",
}

var stageImports = []string{
	"events", "blobs", "gitint", "internal/atomicfile", "internal/refs", "internal/regular",
	"internal/workspace", "internal/check", "internal/leaks", "internal/merge", "internal/secrets",
	"internal/parallel", "internal/spare",
}

var redactImports = []string{
	"events", "blobs", "gitint", "internal/atomicfile", "internal/check", "internal/leaks",
	"internal/quarantine", "internal/regular", "internal/render", "internal/secrets",
	"internal/spare", "internal/workspace",
}

var mergeImports = []string{
	"events", "events/threeway", "blobs", "gitint", "internal/atomicfile", "internal/check",
	"internal/leaks", "internal/regular", "internal/secrets", "internal/workspace",
}

// doctorImports are the parts of an installation.
var doctorImports = []string{
	"events", "blobs", "gitint", "hooks/install", "internal/atomicfile", "internal/check",
	"internal/config", "internal/regular", "internal/render", "internal/workspace",
}

// resolveImports are merging, staging and asking a person.
var resolveImports = []string{
	"events", "events/threeway", "gitint", "internal/ask", "internal/check", "internal/merge",
	"internal/refs", "internal/regular", "internal/render", "internal/repair", "internal/stage",
	"internal/workspace",
}

var auditImports = []string{
	"blobs", "gc", "gitint", "hooks/install", "internal/check", "internal/config", "internal/leaks",
	"internal/merge", "internal/regular", "internal/render", "internal/secrets",
	"internal/workspace",
}

// reportImports are the packages for whose errors it knows a hint.
var reportImports = []string{
	"events", "blobs", "compact", "gc", "gitint", "hooks", "hooks/install", "internal/approval",
	"internal/ask", "internal/atomicfile", "internal/attach", "internal/audit", "internal/check", "internal/config",
	"internal/jpconfig", "internal/llm", "internal/llm/models", "internal/llm/wire", "internal/merge",
	"internal/filelock", "internal/quarantine", "internal/query", "internal/stage", "internal/importer",
	"internal/regular", "internal/render", "internal/repair", "internal/sessions",
	"internal/sessions/envelope", "internal/sqlite", "internal/tool", "internal/trust",
	"internal/workspace",
}

var hooksImports = []string{
	"events", "gitint", "internal/audit", "internal/check", "internal/config", "internal/leaks",
	"internal/merge", "internal/refs", "internal/render", "internal/repair", "internal/stage",
	"internal/workspace",
}

var repairImports = append(
	[]string{"events/threeway", "internal/quarantine"}, stageImports...)

var gcImports = []string{
	"events", "blobs", "gitint", "internal/refs", "internal/workspace", "internal/atomicfile",
	"internal/filelock", "internal/quarantine", "internal/recheck", "internal/regular",
	"internal/spare",
}

var queryImports = []string{
	"events", "events/settings", "events/threeway", "blobs", "dedup", "compact", "internal/llm",
	"internal/schema", "internal/tool", "internal/tool/file", "internal/workspace",
}

var askImports = []string{
	"events", "internal/llm", "internal/query", "internal/regular", "internal/render",
	"internal/tool", "internal/tool/process",
}

// prepareImports are the parts of a question: it opens nearly everything, for one caller.
var prepareImports = []string{
	"events", "events/settings", "blobs", "dedup", "compact", "gitint", "internal/ask",
	"internal/attach", "internal/compaction", "internal/config", "internal/jpconfig",
	"internal/llm", "internal/llm/anthropic", "internal/llm/builtin", "internal/llm/models",
	"internal/llm/wire", "internal/quarantine", "internal/query", "internal/regular",
	"internal/render", "internal/tool", "internal/tool/builtin", "internal/tool/file",
	"internal/tool/local", "internal/tool/mcp", "internal/trust", "internal/workspace",
}

// benchImports are the packages that it measures without a command.
var benchImports = []string{
	"events", "events/threeway", "blobs", "compact", "dedup", "internal/importer", "internal/llm",
	"internal/llm/anthropic", "internal/llm/wire", "internal/parallel", "internal/query",
	"internal/sessions", "internal/workspace",
}

var attachImports = []string{
	"events", "blobs", "internal/regular", "internal/tool", "internal/tool/file",
	"internal/tool/builtin", "internal/workspace",
}

// intakeImports are importing, capturing, showing results and asking a person.
var intakeImports = []string{
	"events", "gitint", "internal/ask", "internal/capture", "internal/importer", "internal/leaks",
	"internal/render", "internal/secrets", "internal/sessions", "internal/sessions/envelope",
	"internal/workspace",
}

// compactorImports are what a compaction needs and does, and printing it.
var compactorImports = []string{
	"events", "compact", "dedup", "internal/ask", "internal/compaction", "internal/config",
	"internal/figures", "internal/listing", "internal/prepare", "internal/quarantine",
	"internal/query", "internal/render", "internal/tool/file", "internal/workspace",
}

// upkeepImports are collecting, repairing and restoring, showing results and asking a person.
var upkeepImports = []string{
	"blobs", "events", "gc", "internal/ask", "internal/check", "internal/compactor",
	"internal/config", "internal/prepare", "internal/quarantine", "internal/regular",
	"internal/render", "internal/repair", "internal/report", "internal/workspace",
}

// questionImports are writing a question, preparing it and printing it.
var questionImports = []string{
	"events", "internal/ask", "internal/compactor", "internal/figures", "internal/prepare",
	"internal/query", "internal/render", "internal/trust", "internal/workspace",
}
