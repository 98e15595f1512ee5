package capture

import (
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/sessions"
)

// command is the beginning of our hooks' command, which identifies them even in a rewritten file.
const command = "git-jp capture --hook "

// line returns the command of a hook for the shells in which agents run hooks. If the program was
// removed, nothing happens: the agent is never stopped.
func line(a sessions.Agent) string {
	return "command -v git-jp >/dev/null 2>&1 && " + command + string(a) + " || true"
}

// An agent describes the file that an agent's hooks are in, and their form.
type agent struct {
	name sessions.Agent
	file func(Places) string
	// whole is the text of a file that is entirely ours; "" if hooks are added to the user's file,
	// as groups of these events with this time limit.
	whole string
	// dirs is how many parent directories belong to a file that is entirely ours, if they are
	// unused.
	dirs    int
	events  []string
	timeout string // in the agent's unit
	// trust says what the agent asks before it runs a hook.
	trust string
	// ignores is the file, at the root of a working tree, that lists what its searches skip; "" if
	// it searches with shell commands.
	ignores string
}

// Places are the directories in which agents keep their settings on this machine.
type Places = sessions.Places

// inHome joins a path below the directory that a variable names, else below one of the home
// directory.
func inHome(variable, usual string, path ...string) func(Places) string {
	return func(p Places) string {
		dir := p.Getenv(variable)
		if dir == "" {
			dir = filepath.Join(p.Home, filepath.FromSlash(usual))
		}
		return filepath.Join(append([]string{dir}, path...)...)
	}
}

// The hooks run at the beginning and the end of a turn, at a compaction, which some agents do in
// the middle of a turn, and at the end of a session.
func known() []agent {
	return []agent{
		{
			name:    sessions.ClaudeCode,
			file:    inHome("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
			events:  []string{"UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"},
			timeout: "10",
		},
		{
			name: sessions.Codex, file: inHome("CODEX_HOME", ".codex", "hooks.json"),
			events:  []string{"UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"},
			timeout: "3", trust: "Codex asks at its next start whether it may run them",
		},
		{
			name: sessions.Gemini, file: inHome("", ".gemini", "settings.json"),
			events:  []string{"BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"},
			timeout: "10000", ignores: ".geminiignore",
		},
		{
			name:  sessions.Copilot,
			file:  inHome("COPILOT_HOME", ".copilot", "hooks", "git-jp.json"),
			whole: copilotHooks(), dirs: 1, ignores: ".ignore",
		},
		{
			name: sessions.Opencode,
			file: func(p Places) string {
				return inHome("XDG_CONFIG_HOME", ".config", "opencode", "plugins", "git-jp.js")(p)
			},
			whole: opencodePlugin, dirs: 2, ignores: ".ignore",
		},
	}
}

// Agents returns the agents that can be captured, in the order in which they are listed.
func Agents() []sessions.Agent {
	return lists.Map(known(), func(a agent) sessions.Agent { return a.name })
}

func agentOf(name sessions.Agent) (agent, bool) {
	all := known()
	i := slices.IndexFunc(all, func(a agent) bool { return a.name == name })
	if i < 0 {
		return agent{}, false
	}
	return all[i], true
}

func copilotHooks() string {
	hook := `[{"type": "command", "timeoutSec": 10, "bash": "` + line(sessions.Copilot) + `"}]`
	return `{
  "version": 1,
  "hooks": {
    "userPromptSubmitted": ` + hook + `,
    "agentStop": ` + hook + `,
    "sessionEnd": ` + hook + `
  }
}
`
}

// opencodePlugin starts a hook for each turn, without waiting for it. The turn ends with the hook's
// input, also if opencode ends before it can write to a process. Two hooks would run in any order,
// and a turn whose beginning is noted after its end seems to go on.
const opencodePlugin = `// Made by git jp capture; git jp capture --uninstall opencode removes it.
import { spawn } from "node:child_process"

export const GitJp = async ({ directory }) => {
  const hooks = new Map() // of the sessions in a turn
  const start = (session, name) => {
    const hook = spawn("git-jp", ["capture", "--hook", "opencode"], {
      cwd: directory, stdio: ["pipe", "ignore", "ignore"], detached: true,
    })
    const gone = () => hooks.get(session) === hook && hooks.delete(session)
    hook.on("error", gone) // git-jp is not there
    hook.on("exit", gone)
    hook.stdin.on("error", () => {})
    hook.unref()
    hook.stdin.unref?.()
    hook.stdin.write(JSON.stringify({
      session_id: session, cwd: directory, hook_event_name: name,
    }))
    return hook
  }
  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID
      const hook = hooks.get(session)
      if (event.type === "session.idle") {
        (hook ?? start(session, event.type)).stdin.end()
        hooks.delete(session)
      } else if (!hook && event.type === "session.status"
          && event.properties.status?.type === "busy") {
        hooks.set(session, start(session, "session.turn"))
      }
    },
  }
}
`
