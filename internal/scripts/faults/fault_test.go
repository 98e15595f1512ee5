//go:build linux

package faults_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/scripts"
)

// A faultCommand is a command that writes, and the repository before it.
type faultCommand struct {
	name   string
	before []string // scripts of sh
	args   []string
	// damage comes after the readable content was recorded: the command fixes it.
	damage string
	// finished is an output that is allowed if the interrupted command had done everything.
	finished string
	// again is the command for the second run, if it is another one.
	again []string
	// other says that the command, given twice, does two things.
	other bool
}

// faultCommands are all commands that write conversations, content, the index or the quarantine.
// Add new ones here.
var faultCommands = []faultCommand{
	{
		name: "write", before: []string{"git jp migrate", "seq 300 >notes"},
		args: []string{"query", "--new", "-a", "notes", "what is here?"}, other: true,
	},
	{name: "rename", args: []string{"rename", "17800000001", "Another title"}},
	{name: "migrate", args: []string{"migrate"}},
	{name: "migrate back", before: []string{"git jp migrate"}, args: []string{"migrate", "--to", "inline"}},
	{name: "stage", before: []string{"git jp migrate"}, args: []string{"stage", "--all"}},
	{
		name: "sweep", before: []string{"git jp migrate", dirty},
		args: []string{"gc", "--yes"},
	},
	{
		name: "undo", before: []string{"git jp migrate", dirty, "git jp gc --yes"},
		args: []string{"gc", "undo"}, finished: "there is none",
	},
	{
		name: "repair", before: []string{
			"git jp migrate", "git jp stage --all && git commit -q -m all --no-verify",
		},
		damage: "rm -r .jp/blobs/??", args: []string{"repair", "--yes"},
	},
	{
		// The index lacks the blobs before.
		name: "hook", before: []string{"git jp migrate", "git add .jp/conversations"},
		damage: "true", args: []string{"hook", "pre-commit"},
	},
	{
		// A removed part of a conversation is complete in the copy, or still in its place.
		name: "compact", before: []string{"git jp migrate"}, damage: "true",
		args: compacting, again: []string{"compact", "--undo", "17800000001"},
		finished: "no copy is kept that an undo would restore", other: true,
	},
	{
		name: "compact back", before: []string{"git jp migrate"}, damage: compactOne,
		args: []string{"gc", "undo", "compacted-17800000001-20260101T000000.000"},
		// It begins with the original.
		finished: "no copy is kept that an undo would restore",
	},
	{
		// A second run collects what only the copy referred to.
		name: "expire", before: []string{"git jp migrate", compactOne, oldCopy, dirty},
		args: []string{"gc", "--yes"}, other: true,
	},
	{
		name: "import", before: []string{agentSessions},
		args: []string{"import", "-q", "--yes", "--foreign", ".git/sessions"},
	},
}

var compacting = []string{
	"compact", "17800000001", "--in-place", "--yes", "--strategy", "strip-tool-results",
	"--keep-last", "0",
}

const (
	compactOne = `git jp compact 17800000001 --in-place --yes --strategy strip-tool-results --keep-last 0 &&
cd .git/jp/trash && mv compacted-* compacted-17800000001-20260101T000000.000`
	oldCopy = `sed -i 's/"20[0-9][0-9]-/"2001-/g' .git/jp/trash/*/aside.json`
)

// agentSessions are written where Git does not look: as many as are synced together, with a result
// each that is too long for the stream.
const agentSessions = `mkdir .git/sessions; for s in $(seq 8); do for n in 1 2 3; do case $n in
1) type=user said="\"Look\"";;
2) type=assistant said='[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]';;
3) type=user said="[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"$(printf %9000d $s)\"}]";;
esac
echo "{\"type\":\"$type\",\"uuid\":\"u$s.$n\",\"sessionId\":\"s$s\",\"cwd\":\"/x\",\"timestamp\":\"2026-05-01T10:00:0${n}Z\",\"message\":{\"role\":\"$type\",\"content\":$said}}"
done >.git/sessions/$s.jsonl; done`

// padding makes a result worth compacting.
const padding = " result, which is so long that somebody who compacts what tools returned takes it out" +
	" and leaves a line behind that says so, which is shorter than this is"

// dirty leaves two blobs, one of them tracked, that nothing needs.
const dirty = `git jp stage --all && git commit -q -m all --no-verify &&
git rm -rq .jp/conversations/17800000002-two && git commit -q -m gone &&
find .jp/blobs -name '*.gz' -exec touch -d 2020-01-01 {} +`

// A faultBench runs commands under strace, which makes their system calls fail.
type faultBench struct {
	t        *testing.T
	dir, bin string
	home     string
}

func newFaultBench(t *testing.T) *faultBench {
	scripts.DependOnSources(t)
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not here: system calls cannot be made to fail")
	}
	b := &faultBench{t: t, dir: gittest.TempDir(t)}
	b.bin, b.home = filepath.Join(b.dir, "bin"), filepath.Join(b.dir, "home")
	program, err := exec.LookPath("git-jp")
	if err == nil {
		err = errors.Join(os.Mkdir(b.bin, 0o755), os.Mkdir(b.home, 0o755),
			os.Symlink(program, filepath.Join(b.bin, "git-jp")))
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *faultBench) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(gittest.Env(b.t), "PATH="+b.bin+":"+os.Getenv("PATH"), "HOME="+b.home,
		"XDG_DATA_HOME="+filepath.Join(dir, "..", "data"), "XDG_CONFIG_HOME="+b.home,
		"JP_SESSION=fault", "TERM=dumb",
		"GIT_CONFIG_COUNT=0") // git makes all its calls
	return cmd
}

// world makes the repository before a command.
func (b *faultBench) world(c faultCommand) string {
	b.t.Helper()
	dir := filepath.Join(b.dir, "of "+c.name, "repo")
	for id, results := range map[string][]string{
		"17800000001-one": {"shared", "3*first" + padding}, "17800000002-two": {"shared", "3*second" + padding},
	} {
		at := filepath.Join(dir, ".jp", "conversations", id)
		if err := os.MkdirAll(at, 0o755); err != nil {
			b.t.Fatal(err)
		}
		for name, data := range scripts.Conversation(id, results) {
			if err := os.WriteFile(filepath.Join(at, name), []byte(data), 0o644); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	for _, script := range append([]string{"git init -q -b main && git jp init"}, c.before...) {
		if out, err := b.run(dir, "sh", "-c", script); err != nil {
			b.t.Fatalf("%s: %v\n%s", script, err, out)
		}
	}
	return dir
}

// template returns the world with what can be read there, and then damages it.
func (b *faultBench) template(c faultCommand) (dir string, before resolution) {
	b.t.Helper()
	dir = b.world(c)
	before, err := readAll(dir)
	if err != nil {
		b.t.Fatal(err)
	}
	if out, err := b.run(dir, "sh", "-c", "true; "+c.damage); err != nil {
		b.t.Fatalf("%s: %v\n%s", c.damage, err, out)
	}
	return dir, before
}

// A resolution is what can be read in a repository: the blobs of each conversation.
type resolution map[string][]blobs.Hash

// readAll reads every conversation of a working tree. A dangling reference is an error.
func readAll(dir string) (resolution, error) {
	store, err := blobs.Open(filepath.Join(dir, ".jp", "blobs"), blobs.Options{})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	found := resolution{}
	names, err := filepath.Glob(filepath.Join(dir, ".jp", "conversations", "*", "events.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		s, err := events.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		id, _ := events.ParseDirname(filepath.Base(filepath.Dir(name)))
		for c := range s.Contents() {
			text, err := c.Content.Bytes(store)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			found[id.String()] = append(found[id.String()], blobs.Sum(text))
		}
	}
	return found, nil
}

// staged returns the references of the index whose blobs it lacks.
func (b *faultBench) staged(dir string) ([]string, error) {
	list, err := b.run(dir, "git", "ls-files", "-s", ".jp")
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, list)
	}
	var lost []string
	for _, id := range regexp.MustCompile(`(?m)^\S+ (\S+) \d\t.*/events\.json$`).
		FindAllStringSubmatch(list, -1) {
		data, err := b.command(dir, "git", "cat-file", "blob", id[1]).Output()
		if err != nil {
			return nil, err
		}
		for _, h := range refs.MentionsIn(data).Refs {
			if !strings.Contains(list, h.Path()) {
				lost = append(lost, h.String())
			}
		}
	}
	return lost, nil
}

// holds returns an error unless every conversation and every blob of it is still there.
func (r resolution) holds(now resolution) error {
	for id, all := range r {
		for _, h := range all {
			if !slices.Contains(now[id], h) {
				return fmt.Errorf("conversation %s has lost content %s", id, h)
			}
		}
	}
	return nil
}
