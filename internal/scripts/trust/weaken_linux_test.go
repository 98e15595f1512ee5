package trust_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/harmless"
	"github.com/git-jp/git-jp/internal/scripts"
)

// defended are commands in a repository where each of our own settings has something to refuse, to
// add, to restore or to leave alone. Their result is their output, their exit codes, and the
// content of HEAD, the index and the store after them.
const defended = `
run() { echo "== $*"; "$@" </dev/null 2>&1; echo "ends with $?"; }
run git jp check
run git jp check HEAD
run git jp print -q 17000000001
run git jp compact --dry-run 17000000001
run git jp compact --dry-run 17000000004
run git jp stats 17000000004
run git jp gc --dry-run
echo x >>beside
run git add beside .jp/conversations/17000000003-three
run git jp check --staged
run git commit -qm "blobs are not staged"
git branch -q before
run git merge -q --no-edit side
run git jp check HEAD
run git jp print 17000000001
git branch -q driven
git reset -q --hard before
run git -c merge.jp-events.driver="git merge-file --union %A %O %B" merge -q --no-edit side
run git jp check HEAD
run git jp print 17000000001
run git diff --stat driven
run git add .jp/conversations/17000000002-two
run git commit -qm dangles
run git rm -rq --cached .jp/conversations/17000000002-two
run git jp stage 17000000004
run git ls-files -s -- beside .jp/conversations/17* .jp/blobs
run git ls-tree -r HEAD -- beside .jp/conversations .jp/blobs
find .jp/blobs -type f | sort
`

// newDefence returns a repository with hooks and drivers. The first conversation has turns on two
// sides, the content of the second is lost, the others are not committed, and one blob is old and
// unreferenced.
func newDefence(t *testing.T) *scene {
	t.Helper()
	root := gittest.TempDir(t)
	bin := filepath.Join(root, "bin")
	s := &scene{root: root}
	s.effect = s.defend
	s.Repository = gittest.At(t, filepath.Join(root, "r")).With("HOME="+root,
		"XDG_CONFIG_HOME="+filepath.Join(root, "home"), "XDG_DATA_HOME="+filepath.Join(root, "data"),
		"PATH="+bin+":"+os.Getenv("PATH"), "JP_SESSION=defence", "GIT_MERGE_AUTOEDIT=no")
	must(os.MkdirAll(bin, 0o755))
	gittest.WriteProgram(t, filepath.Join(bin, "evil"), "#!/bin/sh\ntouch \"$HOME/ran\"\n")
	conversation := func(name string, results ...string) {
		for file, text := range scripts.Conversation(name, results) {
			s.WriteFile(".jp/conversations/"+name+"/"+file, text)
		}
	}
	must(os.MkdirAll(s.Dir, 0o755))
	s.Run("init", "-q", "-b", "main", ".")
	s.command(t, "init", "-q")
	one := func(turns ...string) {
		conversation("17000000001-one", "4*a result")
		text := strings.TrimSuffix(s.ReadFile(conversationDir+"events.json"), "\n]\n")
		for i, turn := range turns {
			text += ",\n" + scripts.Element(40000+i, "turn_start") + ",\n" +
				scripts.Element(40000+i, "chat_request", "content", strconv.Quote(turn))
		}
		s.WriteFile(conversationDir+"events.json", text+"\n]\n")
	}
	commit := func(message string) {
		s.command(t, "migrate", "-q")
		s.command(t, "stage", "-q", "--all")
		s.Commit(message)
	}
	s.WriteFile("beside", "beside\n")
	s.empty()
	one()
	conversation("17000000006-six", "shared")
	commit("base")
	s.Run("checkout", "-q", "-b", "side")
	one("theirs")
	s.Remove(".jp/conversations/17000000006-six")
	s.Remove(".jp/blobs/" + blobs.Sum([]byte("shared")).Path())
	commit("side")
	s.Run("checkout", "-q", "main")
	one("ours")
	conversation("17000000007-seven", "shared")
	commit("main")
	for name, content := range map[string]string{"2-two": "lost", "3-three": "new", "4-four": "more"} {
		conversation("1700000000"+name, content)
	}
	conversation("17000000005-five", "old")
	s.command(t, "migrate", "-q")
	lost, old := blobs.Sum([]byte("lost")).Path(), blobs.Sum([]byte("old")).Path()
	s.Remove(".jp/blobs/" + lost)
	s.Remove(".jp/conversations/17000000005-five")
	longAgo := time.Now().AddDate(0, 0, -40)
	must(os.Chtimes(s.Path(".jp/blobs/"+old), longAgo, longAgo))
	s.command(t, "install", "-q")
	s.sh("cp -a r kept")
	return s
}

// fresh restores the repository, with others' settings in a layer. Settings of a conversation are
// in a conversation that is not merged: there they are content.
func (s *scene) fresh(layer string, settings map[string]any) {
	must(os.RemoveAll(filepath.Join(s.root, "data")))
	must(os.RemoveAll(s.Dir))
	s.sh("cp -a kept r")
	text := s.layer(layer, settings)
	name, apart := strings.CutPrefix(sceneLayers[layer], conversationDir)
	if apart {
		name = ".jp/conversations/17000000004-four/" + name
	}
	if layer == "delta" {
		text = strings.TrimSuffix(text, "]") + "," + strings.TrimPrefix(s.ReadFile(name), "[")
	}
	s.WriteFile(name, text)
	if !apart {
		s.Run("add", name)
		s.Run("-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "layer")
	}
}

// sh runs a script beside the repository.
func (s *scene) sh(script string) string {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = s.root, s.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		panic(string(out))
	}
	return string(out)
}

var (
	// Warnings about settings that have no effect, and about those that are left out.
	toldOfOthers = regexp.MustCompile(`(?m)^warning: .*( no effect until you approve |left out|jp does not start on this key).*\n`)
	// The layers themselves differ.
	ofLayer = regexp.MustCompile(`(?m)^\d{6} .*[\t](\.jp/conversations/17000000004-four/(base_config|events)\.json)$`)
)

// defend runs the commands with others' settings, and returns the result.
func (s *scene) defend(t *testing.T, layer string, settings map[string]any) effect {
	t.Helper()
	s.fresh(layer, settings)
	out := s.sh("cd r; " + defended + `test ! -e "$HOME/ran" || echo "evil ran"`)
	out = ofLayer.ReplaceAllString(toldOfOthers.ReplaceAllString(out, ""), "$1")
	e, at, n := effect{}, "", 0
	for line := range strings.Lines(out) {
		if n++; strings.HasPrefix(line, "== ") {
			at, n = line, 0
		}
		e[fmt.Sprintf("%s%d: %s", at, n, line)] = true
	}
	return e
}

// TestOthersSettingsWeakenNothing sets each of our own settings as someone else to each possible
// value, and some impossible ones, in each layer: checks, hooks, merges, collections and
// compactions are the same as with a neutral layer, except for the effects in the table of harmless
// settings. The normal run has one value in each layer.
func TestOthersSettingsWeakenNothing(t *testing.T) {
	s := newDefence(t)
	rounds := weakening()
	for n, layer := range slices.Sorted(maps.Keys(sceneLayers)) {
		empty := s.defend(t, layer, map[string]any{})
		if n == 0 || scripts.Soaks() {
			if more := s.defend(t, layer, map[string]any{}).beside(empty); len(more) > 0 {
				t.Fatalf("an empty %s is not always the same: %q", layer, more)
			}
		}
		for i, all := range rounds {
			if scripts.Soaks() || i == n {
				s.judge(t, layer, empty, all)
			}
		}
	}
}

// weakening are our settings that are set together: the first value of each, the second, and so on.
func weakening() [][]say {
	rounds := make([][]say, 12)
	for _, k := range config.Known() {
		path := strings.Split(strings.ReplaceAll(k.Name, "<name>", "fs_read_file"), ".")
		values := hostileValues(k)
		for i := range rounds {
			value := values[i%len(values)]
			text, err := json.Marshal(value)
			must(err)
			row, ok := harmless.Find(path)
			if ok && (row.Admits(text) || row.Kind == harmless.Longer && value == longest) {
				continue
			}
			rounds[i] = append(rounds[i], say{path, value})
		}
	}
	return rounds
}

const longest = "1000d"

func hostileValues(k config.Key) (values []any) {
	for _, word := range k.Choices {
		values = append(values, word)
	}
	switch k.Kind {
	case config.Bool:
		values = append(values, false, true)
	case config.Size, config.Int:
		values = append(values, 1, 0, 1<<40)
	case config.Fraction, config.Money:
		values = append(values, 0, 1)
	case config.Duration:
		values = append(values, "0s", "1s", longest)
	default:
		values = append(values, "evil", []any{}, []any{"evil"})
	}
	return append(values, nil, []any{values[0]}, map[string]any{"value": values[0], "strategy": "replace"})
}
