package trust_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/harmless"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/scripts"
)

// An effect is the visible result of a command: a line for each request that was sent, with its
// bytes, each process that was started, each connection, each file that was opened, and how it
// ended.
type effect map[string]bool

// beside returns the lines that only one of two effects has.
func (e effect) beside(other effect) (lines []string) {
	for line := range e {
		if !other[line] {
			lines = append(lines, "more: "+line)
		}
	}
	for line := range other {
		if !e[line] {
			lines = append(lines, "less: "+line)
		}
	}
	slices.Sort(lines)
	return lines
}

// A scene is a workspace of a user who says which model is asked and which tool runs without
// asking, and a server that is that model. Strangers write into one layer.
type scene struct {
	*gittest.Repository
	root   string
	server *httptest.Server

	// effect writes others' settings into a layer, and returns the result.
	effect func(t *testing.T, layer string, settings map[string]any) effect

	mu       sync.Mutex
	requests []string
}

// sceneLayers are the files through which others' settings come in, each with a neutral content.
var sceneLayers = map[string]string{
	"workspace":   ".jp/config.json",
	"below":       ".jp/config.d/deep/x.json",
	"directory":   ".jp.json",
	"base_config": ".jp/conversations/17000000001-one/base_config.json",
	"delta":       ".jp/conversations/17000000001-one/events.json",
	"git-jp.toml": ".jp/git-jp.toml",
}

// layer returns the content of a layer with these settings.
func (s *scene) layer(name string, settings map[string]any) string {
	text, err := json.Marshal(settings)
	must(err)
	switch name {
	case "delta":
		return `[{"timestamp":"2026-05-29 19:42:36.0","type":"config_delta","delta":` + string(text) + "}]"
	case "git-jp.toml":
		var lines strings.Builder
		tomlLines(&lines, "", settings)
		return lines.String()
	}
	return string(text)
}

// tomlLines writes tables as dotted keys. JSON of anything else except null is TOML.
func tomlLines(b *strings.Builder, at string, v any) {
	if table, ok := v.(map[string]any); ok && (len(table) > 0 || at == "") {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			tomlLines(b, strings.TrimPrefix(at+"."+name, "."), table[name])
		}
		return
	}
	text, err := json.Marshal(v)
	must(err)
	if !bytes.Contains(text, []byte("null")) && !bytes.ContainsAny(text, ":") {
		b.WriteString(at + " = " + string(text) + "\n")
	}
}

func newScene(t *testing.T) *scene {
	t.Helper()
	scripts.DependOnSources(t)
	root := gittest.TempDir(t)
	s := &scene{root: root}
	s.server, s.effect = httptest.NewServer(s), s.run
	t.Cleanup(s.server.Close)
	bin := filepath.Join(root, "bin")
	s.Repository = gittest.At(t, filepath.Join(root, "r")).With("HOME="+root,
		"XDG_CONFIG_HOME="+filepath.Join(root, "home"), "XDG_DATA_HOME="+filepath.Join(root, "data"),
		"PATH="+bin+":"+os.Getenv("PATH"), "EDITOR=true", "JP_SESSION=scene", "GOGC=400", "EVIL=secret",
		"JP_CFG_PROVIDERS_LLM_OLLAMA_BASE_URL="+s.server.URL)
	must(os.MkdirAll(bin, 0o755))
	for _, name := range []string{"mine", "evil"} {
		gittest.WriteProgram(t, filepath.Join(bin, name), "#!/bin/sh\necho "+name+"\n")
	}
	s.WriteFile("../home/jp/config.json", `{"assistant":{"model":{"id":"ollama/m"}},"conversation":{`+
		`"title":{"generate":{"auto":false}},`+
		`"tools":{"mine":{"source":"local","command":"mine","run":"unattended"}}}}`)
	s.WriteFile("../home/jp/git-jp.toml", "gc.auto = false\n") // which runs now and then
	for name, text := range scripts.Conversation("One", []string{"alpha"}) {
		s.WriteFile(conversationDir+name, text)
	}
	s.WriteFile("evil", "a secret")
	s.WriteFile(".gitignore", "evil\n")
	s.Run("init", "-q", ".")
	s.command(t, "init", "-q")
	s.empty()
	s.Commit("one")
	return s
}

// empty writes neutral content into each layer.
func (s *scene) empty() {
	for layer, name := range sceneLayers {
		s.WriteFile(name, s.layer(layer, map[string]any{}))
	}
}

// sent returns the requests since its last call.
func (s *scene) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// ServeHTTP calls tools in the first answer, and ends the turn in the second.
func (s *scene) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Header.Del("Content-Length")
	var header strings.Builder
	_ = r.Header.Write(&header)
	s.requests = append(s.requests, r.Method+" "+r.URL.String()+" "+header.String()+string(body))
	call := `{"id":"%","function":{"name":"%","arguments":{}}}`
	answer := `"content":"done"`
	if !bytes.Contains(body, []byte(`"role":"tool"`)) {
		answer = `"content":"","tool_calls":[` + strings.ReplaceAll(call, "%", "mine") + "," +
			strings.ReplaceAll(call, "%", "x") + "]"
	}
	_, _ = io.WriteString(w, `{"model":"m","message":{"role":"assistant",`+answer+`},"done":true,"done_reason":"stop"}`+"\n")
}

func (s *scene) command(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("git-jp", args...)
	cmd.Dir, cmd.Env = s.Dir, s.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git jp %q: %v\n%s", args, err, out)
	}
}

// Parts that differ from run to run.
var (
	tracedCall = regexp.MustCompile(`(execve|openat|connect)\((.*)\) += (-?\d+)`)
	quotedName = regexp.MustCompile(`"([^"]*)"`)
	volatile   = regexp.MustCompile(`\d{8,}[-\w]*|[0-9a-f]{12,}|\.\d+\.\d+$|^[0-9a-f]{2}$`)
	descriptor = regexp.MustCompile(`^\d+, `)
)

// run writes these settings into a layer, asks a question in the conversation, and returns the
// result.
func (s *scene) run(t *testing.T, layer string, settings map[string]any) effect {
	t.Helper()
	s.Run("checkout", "-q", "HEAD", "--", ".")
	s.Run("clean", "-qfdx", "-e", "evil")
	must(os.RemoveAll(filepath.Join(s.root, "data")))
	s.empty()
	s.WriteFile(sceneLayers[layer], s.layer(layer, settings))
	s.sent()
	logs := filepath.Join(t.TempDir(), "log") // one for each thread, or calls are cut in two
	ctx, stop := context.WithTimeout(t.Context(), hangs)
	defer stop()
	cmd := exec.CommandContext(ctx, "strace", "--seccomp-bpf", "-ff", "-qq", "-s", "4096", "-o", logs, "-e",
		"trace=execve,openat,connect", "git-jp", "query", "-q", "--id", "jp-c17000000001", "hello")
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.Dir, s.Env, time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("hangs with %v in %s", settings, layer)
	}
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	e := effect{"ends with " + cmd.ProcessState.String(): true}
	if err != nil {
		e["says "+string(out)] = true
	}
	for _, r := range s.sent() {
		e["sends "+r] = true
	}
	names, err := filepath.Glob(logs + ".*")
	must(err)
	for _, name := range names {
		data, err := os.ReadFile(name)
		must(err)
		for line := range strings.Lines(string(data)) {
			if m := tracedCall.FindStringSubmatch(line); m != nil {
				s.traced(e, m[1], m[2], m[3] == "-1" && !strings.Contains(line, "EINPROGRESS"))
			}
		}
	}
	return e
}

// count returns the number of effects of a kind.
func (e effect) count(kind string) (n int) {
	for what := range e {
		if strings.HasPrefix(what, kind) {
			n++
		}
	}
	return n
}

// traced adds a system call. A file that does not exist was not opened.
func (s *scene) traced(e effect, call, args string, failed bool) {
	switch call {
	case "execve":
		if !failed {
			argv, _, _ := strings.Cut(args, "], ")
			e["starts "+volatile.ReplaceAllString(argv, "N")] = true
		}
	case "connect":
		e["connects to "+descriptor.ReplaceAllString(args, "")] = true
	case "openat":
		quoted := quotedName.FindStringSubmatch(args)
		if quoted == nil || failed {
			return
		}
		name := strings.TrimPrefix(quoted[1], s.root)
		for _, system := range []string{"/r/.git/", "/proc/", "/sys/"} { // opened for git and caches
			if strings.HasPrefix(name, system) {
				return
			}
		}
		e["opens "+volatile.ReplaceAllString(name, "N")] = true
	}
}

// A say is one key with a hostile value.
type say struct {
	path  []string
	value any
}

// settings combine the says. If one key contains another, the first counts.
func settings(all []say) map[string]any {
	tree := map[string]any{}
	for _, one := range all {
		at := tree
		for i, name := range one.path {
			if i == len(one.path)-1 {
				if _, ok := at[name]; !ok {
					at[name] = one.value
				}
				break
			}
			below, ok := at[name].(map[string]any)
			if _, known := at[name]; known && !ok {
				break
			}
			if !ok {
				below = map[string]any{}
				at[name] = below
			}
			at = below
		}
	}
	return tree
}

// effects are the keys, besides the rows of the table of harmless settings, with which someone else
// has an effect, and which.
var effects = map[string]string{
	"conversation.attachments": "git is asked what it tracks of a pattern, and that alone is sent",
	"extends":                  "files of the workspace are read, as settings of others",
}

// says returns every key of jp and of git jp with a value, except those that the table admits,
// which have the effect that it names.
func says(layer string, value any) (all []say) {
	names := jpconfig.KnownKeys()
	if layer == "git-jp.toml" {
		names = nil
	}
	for _, k := range config.Known() {
		names = append(names, k.Name)
	}
	text, err := json.Marshal(value)
	must(err)
	for _, name := range names {
		if effects[name] != "" {
			continue
		}
		path := strings.Split(strings.NewReplacer("*", "x", "<name>", "x").Replace(name), ".")
		row, ok := harmless.Find(path)
		if _, wraps := value.(map[string]any); !ok || !wraps && !row.Admits(text) {
			var own any // into which keys below it are put
			must(json.Unmarshal(text, &own))
			all = append(all, say{path, own})
		}
	}
	return all
}

// TestOthersSettingsHaveNoEffect sets every key to every hostile value as someone else, in each
// layer: the processes that a question starts, the connections that it makes, the files that it
// opens and the bytes that it sends are the same as with an empty layer. The normal run has each
// value in one layer, a soak in all, and both orders of keys if one contains the other.
func TestOthersSettingsHaveNoEffect(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not here: nobody tells what a process does")
	}
	s, nothing := newScene(t), map[string]any{}
	for n, layer := range slices.Sorted(maps.Keys(sceneLayers)) {
		s.run(t, layer, nothing) // fills the caches
		empty := s.run(t, layer, nothing)
		if more := s.run(t, layer, nothing).beside(empty); len(more) > 0 {
			t.Fatalf("an empty %s is not always the same: %q", layer, more)
		}
		if !empty["ends with exit status 0"] || empty.count("sends ") != 2 {
			t.Fatalf("an empty %s: %v", layer, empty)
		}
		for i, value := range hostileSettings() {
			if !scripts.Soaks() && i%len(sceneLayers) != n {
				continue
			}
			all := says(layer, value)
			s.judge(t, layer, empty, all)
			if scripts.Soaks() {
				slices.Reverse(all)
				s.judge(t, layer, empty, all)
			}
		}
	}
}

// judge fails for each key that has an effect, which it finds by bisection.
func (s *scene) judge(t *testing.T, layer string, empty effect, all []say) {
	t.Helper()
	other := s.effect(t, layer, settings(all)).beside(empty)
	switch {
	case len(other) == 0:
	case len(all) > 1:
		s.judge(t, layer, empty, all[:len(all)/2])
		s.judge(t, layer, empty, all[len(all)/2:])
	default:
		t.Errorf("%s = %v in %s:\n%.1500s", strings.Join(all[0].path, "."), all[0].value, layer,
			strings.Join(other, "\n"))
	}
}

// hostileSettings are values that someone may write for a key, whatever its type.
func hostileSettings() []any {
	table := map[string]any{"path": "/", "external": true, "content": "evil", "type": "url", "url": "http://127.0.0.1:9"}
	return []any{
		nil, true, false, 0, -1, 1, 1e300, "", "evil", "off", "unattended", "openai/evil", "http://127.0.0.1:9",
		strings.Repeat("x", 300),
		[]any{},
		[]any{"evil"},
		[]any{table},
		map[string]any{},
		table,
		map[string]any{"program": "evil", "shell": true},
		map[string]any{"value": "evil", "strategy": "replace"},
		map[string]any{"value": []any{}, "strategy": "replace"},
		map[string]any{"value": []any{"evil", table}, "strategy": "prepend"},
		map[string]any{"value": table, "strategy": "replace", "discard_when_merged": true},
	}
}
