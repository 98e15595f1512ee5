package sessions

import (
	"strings"

	"github.com/git-jp/git-jp/events"
)

// An Agent is a program whose sessions can be imported.
type Agent string

// The agents.
const (
	ClaudeCode Agent = "claude-code"
	Codex      Agent = "codex"
	Copilot    Agent = "copilot"
	Gemini     Agent = "gemini"
	LLM        Agent = "llm"
	Opencode   Agent = "opencode"
)

// Agents has all of them, in the order in which they are listed.
var Agents = []Agent{ClaudeCode, Codex, Gemini, Copilot, Opencode, LLM}

// The labels of an imported conversation. Labels survive a save by jp.
const (
	// LabelSession holds the [Name] of the session, and LabelOf in a fork or a compacted copy.
	LabelSession = events.LabelSession
	LabelOf      = events.LabelSessionOf
	// LabelImport holds the imported [Version] of the source.
	LabelImport = events.LabelImport
	// LabelParent holds the name of the session that started a sub-agent, or from which a fork was
	// rewound.
	LabelParent = events.LabelParent
	// LabelRules names the rules by which secrets were redacted.
	LabelRules = events.LabelRules
	// LabelDir holds the directory, below $WORKSPACE, in which the agent was started, if known.
	LabelDir    = events.LabelDir
	LabelBranch = "branch"
	LabelCommit = "commit"
)

// A Name identifies a session, in any copy of it.
type Name struct {
	Agent Agent
	ID    string // the agent's own id
}

// String returns the value of the label.
func (n Name) String() string { return string(n.Agent) + "-" + n.ID }

// IsZero reports whether n names no session.
func (n Name) IsZero() bool { return n == Name{} }

// ParseName parses the value of a label.
func ParseName(label string) (Name, bool) {
	agent := events.AgentOf(label)
	id := strings.TrimPrefix(label, agent+"-")
	return Name{Agent(agent), id}, agent != "" && id != ""
}

// IDs returns the two possible ids of a session's conversation, see [events.SessionIDs].
func (n Name) IDs() [2]events.ID { return events.SessionIDs(n.String()) }

// RandomHalf returns the half of a UUID that is random in every version: enough to be unique among
// all sessions of a team. An id that is no UUID is returned unchanged.
func RandomHalf(id string) (half string, ok bool) {
	digits := strings.ReplaceAll(id, "-", "")
	const whole, dashes = 32, 4
	if len(digits) != whole || len(id) != whole+dashes {
		return id, false
	}
	return digits[whole/2:], true
}
