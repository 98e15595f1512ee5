package sessions

import (
	"strings"

	"github.com/git-jp/git-jp/events"
)

// An Agent is a program whose sessions are read.
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

// Agents are all of them, in the order in which they are listed.
var Agents = []Agent{ClaudeCode, Codex, Gemini, Copilot, Opencode, LLM}

// The labels of an imported conversation. Labels survive a save by jp.
const (
	// LabelSession holds the [Name] of the session, and LabelOf in a fork or a compacted copy.
	LabelSession = events.LabelSession
	LabelOf      = events.LabelSessionOf
	// LabelImport holds the [Version] of the source that is in.
	LabelImport = events.LabelImport
	// LabelParent holds the name of the session that started a sub-agent, or was rewound.
	LabelParent = events.LabelParent
	// LabelRules names the rules by which secrets were taken out.
	LabelRules = events.LabelRules
	// LabelDir is where below $WORKSPACE the agent was started, where that is known.
	LabelDir    = events.LabelDir
	LabelBranch = "branch"
	LabelCommit = "commit"
)

// A Name identifies a session, wherever a copy of it lies.
type Name struct {
	Agent Agent
	ID    string // the agent's own id
}

// String returns the value of the label.
func (n Name) String() string { return string(n.Agent) + "-" + n.ID }

// IsZero reports whether n names no session.
func (n Name) IsZero() bool { return n == Name{} }

// ParseName reads the value of a label.
func ParseName(label string) (Name, bool) {
	agent := events.AgentOf(label)
	id := strings.TrimPrefix(label, agent+"-")
	return Name{Agent(agent), id}, agent != "" && id != ""
}

// IDs returns the two ids that the conversation of a session may have, see [events.SessionIDs].
func (n Name) IDs() [2]events.ID { return events.SessionIDs(n.String()) }

// RandomHalf returns the half of a UUID that is random in any version: enough to name something
// among all sessions of a team. What is no UUID is returned as it is.
func RandomHalf(id string) (half string, ok bool) {
	digits := strings.ReplaceAll(id, "-", "")
	const whole, dashes = 32, 4
	if len(digits) != whole || len(id) != whole+dashes {
		return id, false
	}
	return digits[whole/2:], true
}
