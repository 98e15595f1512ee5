package compact

import (
	"context"

	"github.com/git-jp/git-jp/dedup"
	"github.com/go-json-experiment/json/jsontext"
)

// A Response says what compaction leaves of a tool's results.
type Response string

// The responses. The zero value says that nobody decided.
const (
	Keep   Response = "keep"   // they stay
	Strip  Response = "strip"  // a line stays
	Remove Response = "remove" // the call goes too
)

// A Hint says how a tool's calls are compacted.
type Hint struct {
	Response Response
	// Dedup says that a later call may replace an earlier one.
	Dedup bool
	// Alike says that it has to have the same result, and that a call that writes stays: of a
	// tool about which nobody decided, equal calls may have done something each.
	Alike bool
	// Subsumes names the rule that finds calls which a later one makes obsolete: one of
	// dedup.Rules, "tool" for the tool's own word, and "" or "none" for equal arguments only.
	Subsumes string
}

// DefaultHint returns the hint of the table of RFD 036, which the built-in tools share with
// jp's; a tool that is not in it repeats its calls, and nobody decided about its results.
func DefaultHint(tool string) Hint {
	switch tool {
	case "fs_read_file":
		return Hint{Response: Strip, Dedup: true, Subsumes: "io-content"}
	case "fs_grep_files", "fs_list_files", "cargo_check", "cargo_test", "git_diff",
		"git_status", "git_log", "git_show":
		return Hint{Response: Strip, Dedup: true}
	case "fs_create_file", "fs_modify_file", "fs_delete_file", "refresh_resource":
		return Hint{Response: Strip}
	case "git_commit":
		return Hint{Response: Keep}
	case "write_file", "write_pieces":
		return Hint{}
	default:
		return Hint{Dedup: true, Alike: true}
	}
}

// DefaultRules returns the rules by which results of a tool are superseded where nobody named
// one: what is known to read, write or list files.
func DefaultRules(tool string) []dedup.Rule {
	all := dedup.Rules()
	switch tool {
	case "fs_read_file", "fs_create_file", "fs_modify_file", "read", "read_file", "write_file",
		"write_pieces", "refresh_resource":
		return []dedup.Rule{all["io-content"]}
	case "fs_list_files", "list_folder", "list_directory":
		return []dedup.Rule{all["directory-survey"]}
	default:
		return nil
	}
}

// A Subsumer asks a tool whether one of its calls makes an earlier one obsolete.
type Subsumer interface {
	Subsumes(ctx context.Context, tool string, earlier, later jsontext.Value) (bool, error)
}
