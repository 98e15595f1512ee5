package file

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

const plain = "text/plain"

// types are the types of text that its bytes do not show. They are a table, not a query to the
// machine, because a type that differs between machines would be stored as a change.
var types = map[string]string{
	".adoc": "text/asciidoc", ".c": "text/x-c", ".cc": "text/x-c++", ".cpp": "text/x-c++",
	".cs": "text/x-csharp", ".css": "text/css", ".csv": "text/csv", ".dart": "text/x-dart",
	".diff": "text/x-diff", ".ex": "text/x-elixir", ".exs": "text/x-elixir",
	".go": "text/x-go", ".h": "text/x-c", ".hpp": "text/x-c++", ".hs": "text/x-haskell",
	".htm": "text/html", ".html": "text/html", ".ini": "text/x-ini", ".java": "text/x-java",
	".js": "text/javascript", ".json": "application/json", ".json5": "application/json5",
	".jsonl": "application/jsonl", ".jsx": "text/jsx", ".kt": "text/x-kotlin",
	".lua": "text/x-lua", ".markdown": "text/markdown", ".md": "text/markdown",
	".mjs": "text/javascript", ".patch": "text/x-diff", ".php": "text/x-php",
	".pl": "text/x-perl", ".proto": "text/x-protobuf", ".py": "text/x-python",
	".rb": "text/x-ruby", ".rs": "text/x-rust", ".rst": "text/x-rst", ".scala": "text/x-scala",
	".sh": "text/x-shellscript", ".sql": "text/x-sql", ".svg": "image/svg+xml",
	".swift": "text/x-swift", ".tex": "text/x-tex", ".toml": "application/toml",
	".ts": "text/typescript", ".tsx": "text/tsx", ".txt": plain, ".vue": "text/x-vue",
	".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
	".zig": "text/x-zig",
}

// Type returns the MIME type, without parameters, of a file: by its name if it is text, else by its
// content.
func Type(name string, data []byte) string {
	if IsText(data) {
		if t, ok := types[strings.ToLower(path.Ext(name))]; ok {
			return t
		}
	}
	return Sniff(data)
}

// Sniff returns the MIME type of content.
func Sniff(data []byte) string {
	t, _, _ := strings.Cut(mimetype.Detect(data).String(), ";")
	if strings.HasPrefix(t, "text/") && !IsText(data) {
		return "application/octet-stream"
	}
	return t
}

// IsText reports whether data is UTF-8 without NUL, and so can be shown.
func IsText(data []byte) bool {
	return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}
