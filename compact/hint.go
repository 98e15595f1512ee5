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
	// Dedup says that a later call may replace an earlier one with equal arguments.
	Dedup bool
	// Alike says that it has to have the same result, too: what a tool of others returns the second
	// time may be a failure in words.
	Alike bool
	// Subsumes names the rule that finds calls which a later one makes obsolete: one of
	// dedup.Rules, "tool" for the tool's own word, and "" or "none" for equal arguments only.
	Subsumes string
}

// DefaultHint returns the hint of the table of RFD 036 for jp's tools, and for those of which it
// is known what they do with files one like it. A tool that may do anything is left alone: an
// equal call need be no repetition, and of checks and tests each tells of another state.
func DefaultHint(tool string) Hint {
	switch tool {
	case "fs_read_file":
		return Hint{Response: Strip, Dedup: true, Subsumes: ioContent}
	case "fs_grep_files", "fs_list_files", "git_diff", "git_status", "git_log", "git_show":
		return Hint{Response: Strip, Dedup: true}
	case "cargo_check", "cargo_test", "refresh_resource":
		return Hint{Response: Strip}
	case "git_commit":
		return Hint{Response: Keep}
	case "write_file", "write_pieces":
		return Hint{}
	}
	switch dedup.TradeOf(tool) {
	case dedup.Reader:
		return Hint{Response: Strip, Dedup: true, Alike: true, Subsumes: ioContent}
	case dedup.Lister, dedup.Searcher:
		return Hint{Response: Strip, Dedup: true, Alike: true}
	case dedup.Writer:
		return Hint{Response: Strip}
	default:
		return Hint{}
	}
}

const ioContent = "io-content"

// DefaultRules returns the rules by which results of a tool are superseded where nobody named
// one: what is known to read, write or list files.
func DefaultRules(tool string) []dedup.Rule {
	all := dedup.Rules()
	switch dedup.TradeOf(tool) {
	case dedup.Reader, dedup.Writer:
		return []dedup.Rule{all[ioContent]}
	case dedup.Lister:
		return []dedup.Rule{all["directory-survey"]}
	default:
		return nil
	}
}

// A Subsumer asks a tool whether one of its calls makes an earlier one obsolete.
type Subsumer interface {
	Subsumes(ctx context.Context, tool string, earlier, later jsontext.Value) (bool, error)
}
