package compact

import (
	"context"

	"github.com/git-jp/git-jp/dedup"
	"github.com/go-json-experiment/json/jsontext"
)

// A Response selects the part of a tool's results that compaction keeps.
type Response string

// The responses. The zero value means undecided.
const (
	Keep   Response = "keep"   // results are kept
	Strip  Response = "strip"  // one line is kept
	Remove Response = "remove" // the call is removed too
)

// A Hint defines how a tool's calls are compacted.
type Hint struct {
	Response Response
	// Dedup reports whether a later call with equal arguments may replace an earlier one.
	Dedup bool
	// Alike requires equal results as well: the second result of an unknown tool may be a failure
	// in words.
	Alike bool
	// Subsumes names the rule that finds calls which a later one makes obsolete: one of
	// dedup.Rules, "tool" to let the tool decide, and "" or "none" for equal arguments only.
	Subsumes string
}

// DefaultHint returns the hint from the table of RFD 036 for jp's tools, and a similar one for
// other tools whose use of files is known. A tool that may do anything is left alone: an equal call
// need not be a repetition, and each run of a check or test shows another state.
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

// DefaultRules returns the rules by which results of a tool are superseded if none is named: those
// for tools that are known to read, write or list files.
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
