//go:build agents

package agents

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
)

// recorded is the directory of session files that are kept as test data.
const recorded = "../sessions/testdata/recorded"

func (w *world) read(name string) string {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(w.project, name))
	w.check(err)
	return string(data)
}

// below returns the text of a file below the home directory.
func (w *world) below(name string) string {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(w.home, name))
	w.check(err)
	return string(data)
}

// record keeps the session files of a scene, if `make test-agents RECORD=1` asks for it.
func (w *world) record(scene string) {
	if os.Getenv("GIT_JP_RECORD") == "" || w.Failed() {
		return
	}
	dir := filepath.Join(recorded, w.agent.name, scene)
	w.check(os.RemoveAll(dir))
	for _, name := range w.files() {
		if filepath.Ext(name) == ".db" {
			w.write(filepath.Join(dir, name+".sql"), w.dump(filepath.Join(w.home, name)))
			continue
		}
		text := w.below(name)
		if text == "" || slices.Contains(w.agent.aside, filepath.Ext(name)) {
			continue
		}
		text = prompts.ReplaceAllString(text, `${1}(not ours)"`)
		w.write(filepath.Join(dir, name), snapshots.ReplaceAllStringFunc(text, w.emptied))
	}
}

// prompts are the system prompts that Copilot CLI records. They belong to its maker, and are not
// kept.
var prompts = regexp.MustCompile(
	`("type":"system\.message","data":\{"role":"system","content":")(?:[^"\\]|\\.)*"`)

// snapshots are the records of Claude Code with its prompt and its tools, which are not kept either.
var snapshots = regexp.MustCompile(`(?m)^.*"type":"(?:prompt_snapshot|api-request-shape)".*$`)

// emptied returns such a record without them.
func (w *world) emptied(line string) string {
	w.Helper()
	var record map[string]any
	w.check(json.Unmarshal([]byte(line), &record))
	if a, ok := record["attachment"].(map[string]any); ok {
		delete(a, "systemPrompt")
		delete(a, "tools")
	}
	delete(record, "shape")
	text, err := json.Marshal(record)
	w.check(err)
	return string(text)
}

// dump returns a database as text that recreates it: the tables with sessions.
func (w *world) dump(path string) string {
	w.Helper()
	out, err := exec.CommandContext(w.Context(), "sqlite3", path,
		".dump project session message part").Output()
	w.check(err)
	return string(out)
}
