//go:build agents

package agents

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// An agent is a program whose sessions are imported.
type agent struct {
	name    string // as in git jp import
	pkg     string // its name in npm
	version string
	binary  string
	finish  string // the script of its package that installs the program

	sessions []string // how the paths of its sessions begin, below the home directory
	aside    []string // endings of files there without session data

	// config returns its files below the home directory: no telemetry, no updates, our provider.
	config func(*world) map[string]string
	env    func(*world) []string
	args   func(*world, turn) []string
	input  func(turn) string // its standard input; nil for none

	tools tools
}

// A turn is one prompt with which an agent is started.
type turn struct {
	prompt  string
	resume  bool
	fork    bool
	session string // the id of the one to continue
	image   string // the name of a file in the project
	model   string // "" for the configured one
}

// tools are the calls of tools that every agent has, by its own names.
type tools struct {
	read     func(path string) call
	shell    func(command string) call
	edit     func(path, old, now string) call
	delegate func(prompt string) call
}

// known are the agents that run here, with the versions that were tested.
var known = []*agent{claudeCode, codex, geminiCLI, opencode, copilotCLI}

var claudeCode = &agent{
	name: "claude-code", pkg: "@anthropic-ai/claude-code", version: "2.1.332", binary: "claude",
	finish:   "install.cjs",
	sessions: []string{".claude/projects"},
	config:   func(*world) map[string]string { return nil },
	env: func(w *world) []string {
		return []string{
			"ANTHROPIC_BASE_URL=" + w.provider.URL, "ANTHROPIC_API_KEY=none",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
			"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_MAX_RETRIES=0",
			"CLAUDE_CODE_DISABLE_BUNDLED_SKILLS=1",
		}
	},
	args: func(_ *world, t turn) []string {
		args := []string{
			"-p", "--verbose", "--output-format", "stream-json", "--model", "claude-sonnet-4-5",
			"--allowedTools", "Read,Edit,Write,Bash,Agent,Task,mcp__git-jp",
		}
		if t.resume || t.fork {
			args = append(args, "--continue")
		}
		if t.fork {
			args = append(args, "--fork-session")
		}
		if t.session != "" {
			args = append(args, "--resume", t.session)
		}
		return append(args, "--input-format", "stream-json")
	},
	input: func(t turn) string {
		content := []any{map[string]any{"type": "text", "text": t.prompt}}
		if t.image != "" {
			content = append(content, map[string]any{"type": "image", "source": map[string]any{
				"type": "base64", "media_type": "image/png", "data": picture,
			}})
		}
		text, err := json.Marshal(map[string]any{
			"type": "user", "message": map[string]any{"role": "user", "content": content},
		})
		if err != nil {
			panic(err)
		}
		return string(text) + "\n"
	},
	tools: tools{
		read: func(path string) call {
			return call{name: "Read", args: map[string]any{"file_path": path}}
		},
		shell: func(command string) call {
			return call{name: "Bash", args: map[string]any{
				"command": command, "description": "Runs a command",
			}}
		},
		edit: func(path, old, now string) call {
			return call{name: "Edit", args: map[string]any{
				"file_path": path, "old_string": old, "new_string": now,
			}}
		},
		delegate: func(prompt string) call {
			return call{name: "Agent", args: map[string]any{
				"description": "Counts lines", "prompt": prompt, "subagent_type": "general-purpose",
				"run_in_background": false,
			}}
		},
	},
}

var codex = &agent{
	name: "codex", pkg: "@openai/codex", version: "0.171.0", binary: "codex",
	sessions: []string{".codex/sessions"},
	config: func(w *world) map[string]string {
		instructions := filepath.Join(w.home, ".codex/instructions.md")
		w.write(instructions, "You are a coding agent in a test.\n")
		return map[string]string{".codex/config.toml": fmt.Sprintf(`model = "gpt-5.5"
model_provider = "loopback"
check_for_update_on_startup = false
model_instructions_file = %q
model_auto_compact_token_limit = 50000
[analytics]
enabled = false
[features]
apps = false
plugins = false
remote_plugin = false
[model_providers.loopback]
name = "loopback"
base_url = %q
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[projects.%q]
trust_level = "trusted"
`, instructions, w.provider.URL+"/v1", w.project)}
	},
	env: func(*world) []string { return nil },
	args: func(w *world, t turn) []string {
		args := []string{"exec"}
		switch {
		case t.fork:
			args = append(args, "fork")
		case t.resume, t.session != "":
			args = append(args, "resume")
		}
		args = append(args, "--dangerously-bypass-approvals-and-sandbox",
			"--dangerously-bypass-hook-trust")
		if t.model != "" {
			args = append(args, "--model", t.model)
		}
		if t.image != "" {
			args = append(args, "-i", filepath.Join(w.project, t.image))
		}
		switch {
		case t.fork:
			args = append(args, w.newest())
		case t.resume:
			args = append(args, "--last")
		case t.session != "":
			args = append(args, t.session)
		}
		return append(args, "--", t.prompt)
	},
	tools: tools{
		read: func(path string) call {
			return call{name: "exec_command", args: map[string]any{"cmd": "cat " + path}}
		},
		shell: func(command string) call {
			return call{name: "exec_command", args: map[string]any{"cmd": command}}
		},
		edit: func(path, old, now string) call {
			return call{name: "apply_patch", free: fmt.Sprintf(
				"*** Begin Patch\n*** Update File: %s\n@@\n-%s\n+%s\n*** End Patch\n",
				filepath.Base(path), old, now)}
		},
	},
}

var geminiCLI = &agent{
	name: "gemini", pkg: "@google/gemini-cli", version: "0.61.0", binary: "gemini",
	sessions: []string{".gemini/tmp", ".gemini/projects.json"},
	config: func(*world) map[string]string {
		return map[string]string{".gemini/settings.json": `{
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false},
  "security": {"auth": {"selectedType": "gemini-api-key"}}
}
`}
	},
	env: func(w *world) []string {
		return []string{
			"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + w.provider.URL,
			"GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true",
		}
	},
	args: func(_ *world, t turn) []string {
		args := []string{"--skip-trust", "--yolo", "--model", "gemini-2.5-pro"}
		if t.resume {
			args = append(args, "--resume", "latest")
		}
		if t.image != "" {
			t.prompt += " @" + t.image
		}
		return append(args, "--prompt", t.prompt)
	},
	tools: tools{
		read: func(path string) call {
			return call{name: "read_file", args: map[string]any{"file_path": path}}
		},
		shell: func(command string) call {
			return call{name: "run_shell_command", args: map[string]any{"command": command}}
		},
		edit: func(path, old, now string) call {
			return call{name: "replace", args: map[string]any{
				"file_path": path, "old_string": old, "new_string": now,
				"instruction": "Change the line.",
			}}
		},
		delegate: func(prompt string) call {
			return call{name: "invoke_agent", args: map[string]any{
				"agent_name": "generalist", "prompt": prompt,
			}}
		},
	},
}

var opencode = &agent{
	name: "opencode", pkg: "opencode-ai", version: "1.18.33", binary: "opencode",
	finish:   "postinstall.mjs",
	sessions: []string{".local/share/opencode/opencode.db"},
	aside:    []string{".db-wal", ".db-shm"},
	config: func(w *world) map[string]string {
		return map[string]string{".config/opencode/opencode.json": fmt.Sprintf(`{
  "autoupdate": false, "share": "disabled", "model": "loopback/sonnet",
  "provider": {"loopback": {
    "npm": "@ai-sdk/anthropic", "name": "Loopback",
    "options": {"baseURL": %q, "apiKey": "none"},
    "models": {"sonnet": {"name": "Sonnet", "reasoning": true, "attachment": true,
      "tool_call": true, "modalities": {"input": ["text", "image"], "output": ["text"]},
      "limit": {"context": 200000, "output": 8000},
      "cost": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}}}
  }}
}
`, w.provider.URL+"/v1")}
	},
	env: func(*world) []string {
		return []string{
			"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
			"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
		}
	},
	args: func(w *world, t turn) []string {
		args := []string{"run", "--auto", "--model", "loopback/sonnet"}
		if t.resume || t.fork {
			args = append(args, "--continue")
		}
		if t.fork {
			args = append(args, "--fork")
		}
		args = append(args, t.prompt)
		if t.image != "" {
			args = append(args, "--file", filepath.Join(w.project, t.image))
		}
		return args
	},
	tools: tools{
		read: func(path string) call {
			return call{name: "read", args: map[string]any{"filePath": path}}
		},
		shell: func(command string) call {
			return call{name: "bash", args: map[string]any{
				"command": command, "description": "Runs a command",
			}}
		},
		edit: func(path, old, now string) call {
			return call{name: "edit", args: map[string]any{
				"filePath": path, "oldString": old, "newString": now,
			}}
		},
		delegate: func(prompt string) call {
			return call{name: "task", args: map[string]any{
				"description": "Counts lines", "prompt": prompt, "subagent_type": "general",
			}}
		},
	},
}

var copilotCLI = &agent{
	name: "copilot", pkg: "@github/copilot", version: "1.0.102", binary: "copilot",
	sessions: []string{".copilot/session-state"},
	config:   func(*world) map[string]string { return nil },
	env: func(w *world) []string {
		return []string{
			"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_TYPE=anthropic",
			"COPILOT_PROVIDER_BASE_URL=" + w.provider.URL, "COPILOT_PROVIDER_API_KEY=none",
			"COPILOT_MODEL=claude-sonnet-4.5",
		}
	},
	args: func(w *world, t turn) []string {
		args := []string{"--allow-all-tools", "--allow-all-paths", "--disable-builtin-mcps"}
		if t.resume {
			args = append(args, "--continue")
		}
		if t.image != "" {
			args = append(args, "--attachment", filepath.Join(w.project, t.image))
		}
		return append(args, "--prompt", t.prompt)
	},
	tools: tools{
		read: func(path string) call {
			return call{name: "view", args: map[string]any{"path": path}}
		},
		shell: func(command string) call {
			return call{name: "bash", args: map[string]any{
				"command": command, "description": "Runs a command", "mode": "sync",
			}}
		},
		edit: func(path, old, now string) call {
			return call{name: "edit", args: map[string]any{
				"path": path, "old_str": old, "new_str": now,
			}}
		},
		delegate: func(prompt string) call {
			return call{name: "task", args: map[string]any{
				"description": "Counts lines", "prompt": prompt, "agent_type": "general-purpose",
				"name": "counter", "mode": "sync",
			}}
		},
	},
}
