package scripts

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/rogpeppe/go-internal/testscript"
)

var updating = flag.Bool("update", false, "rewrite golden files, and the golden parts of scripts")

// Updating reports whether golden files are being written.
func Updating() bool { return *updating }

// groups are the packages below this one that run scripts, each with the commands whose scripts it
// runs. There are several because go test runs packages side by side and caches what passed.
var groups = map[string][]string{
	"checks":    {"check", "doctor", "secrets"},
	"commits":   {"hook", "init", "install", "stage", "status", "unstage"},
	"deletions": {"gc", "lazy", "lfs", "migrate", "repair"},
	"merges":    {"merge"},
	"questions": {"attachment", "compact", "models", "query"},
	"teams":     {"archive", "picture", "redact", "rename", "resolve", "update"},
}

// others is the package that runs the scripts of all other commands.
const others = "readings"

// Run runs the scripts of a package.
func Run(t *testing.T, group string) {
	t.Helper()
	files := scripts(t, group, false)
	if len(files) == 0 {
		t.Fatalf("no scripts of %s", group)
	}
	runScripts(t, files)
}

// RunAsUser runs those scripts of a package that begin with as-user, for which file permissions
// have to be enforced.
func RunAsUser(t *testing.T, group string) {
	t.Helper()
	files := scripts(t, group, true)
	if len(files) == 0 || gittest.RanAsUser(t) {
		return
	}
	runScripts(t, files)
}

func runScripts(t *testing.T, files []string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Files:               files,
		UpdateScripts:       *updating,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               SetUp,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"as-user":      asUserOnly,
			"conforms":     conforms,
			"conversation": writeConversation,
			"dialogue":     dialogue,
			"eventually":   eventually,
			"exits":        exits,
			"hookless":     hookless,
			"is-json":      isJSON,
			"same-member":  sameMember,
			"picture":      picture,
			"requests-git": requestsGit,
			"serve-git":    serveGit,
			"serve-mcp":    serveMCP,
			"serve-model":  serveModel,
			"shown":        shown,
			"workspace":    workspace,
		},
	})
}

// scripts lists the scripts of a package that have to run as an unprivileged user, or those that
// need not.
func scripts(t *testing.T, group string, asUser bool) []string {
	t.Helper()
	DependOnSources(t)
	all, err := filepath.Glob(filepath.Join(top, "testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(name string) bool {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return groupOf(name) != group || lazily() && !holdsLazily(name) || bytes.Contains(data, []byte("\nas-user\n")) != asUser
	})
	return all
}

// groupOf returns the package that runs a script, by the command with which the script's name
// begins.
func groupOf(script string) string {
	command, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(script), ".txtar"), "_")
	for group, commands := range groups {
		if slices.Contains(commands, command) {
			return group
		}
	}
	return others
}

// asUserOnly is the script command as-user.
func asUserOnly(ts *testscript.TestScript, _ bool, _ []string) {
	if os.Geteuid() == 0 {
		ts.Fatalf("runs as the superuser, to whom no file is closed")
	}
}

// RunsConfigHooks reports whether git runs hooks of the configuration.
func RunsConfigHooks() (bool, error) {
	out, err := exec.Command("git", "version").Output()
	if err != nil {
		return false, err
	}
	v, err := gitint.ParseVersion(string(out))
	return v.AtLeast(gitint.Version{Major: 2, Minor: 54}), err
}

// hookless runs a git that runs no hooks, neither those in files nor ours in the configuration.
func hookless(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || args[0] != "git" {
		ts.Fatalf("usage: hookless git ARGUMENT...")
	}
	settings := []string{"-c", "core.hooksPath=" + os.DevNull}
	for _, name := range install.AllNames() {
		settings = append(settings, "-c", "hook.jp-"+name+".enabled=false")
	}
	err := ts.Exec("git", append(settings, args[1:]...)...)
	if neg == (err == nil) {
		ts.Fatalf("git %s: %v", args[1], err)
	}
}

// layers mounts overlayfs.
const layers = `dir=$(mktemp -d)
trap 'umount $dir && rmdir $dir' EXIT
mount -t tmpfs none $dir
mkdir $dir/lower $dir/upper $dir/work
mount -t overlay -o userxattr,lowerdir=$dir/lower,upperdir=$dir/upper,workdir=$dir/work none $dir/lower
umount $dir/lower`

// condition evaluates [realdata], whether the real conversations exist, [mounts], whether a user
// may mount file systems for a process, [layers], whether overlayfs is one of them, [root], whether
// files can be given to other users, [lazy], whether every repository is a lazy clone, and for git [confighooks], whether it runs hooks of the
// configuration, [replay], whether it replays and reverts commits and moves their branch, and
// [reftable].
func condition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Geteuid() == 0, nil
	case "lazy":
		return lazily(), nil
	case "mounts":
		return exec.Command("unshare", "-Urm", "true").Run() == nil, nil
	case "layers":
		return exec.Command("unshare", "-Urm", "sh", "-ec", layers).Run() == nil, nil
	case "confighooks":
		return RunsConfigHooks()
	case "replay":
		out, _ := exec.Command("git", "replay", "-h").CombinedOutput()
		return bytes.Contains(out, []byte("--revert")), nil
	case "reftable":
		dir, err := os.MkdirTemp("", "reftable")
		if err != nil {
			return false, err
		}
		defer os.RemoveAll(dir)
		return exec.Command("git", "init", "-q", "--ref-format=reftable", dir).Run() == nil, nil
	case "realdata":
		_, ok := realdata.Find()
		return ok, nil
	default:
		return false, fmt.Errorf("unknown condition %q", cond)
	}
}

// SetUp gives a script its own home and a fixed identity and date, and hides the configuration of
// the machine.
func SetUp(env *testscript.Env) error {
	recorded, err := filepath.Abs(filepath.Join(top, "internal", "sessions", "testdata", "recorded"))
	if err != nil {
		return err
	}
	home := filepath.Join(env.WorkDir, ".home")
	data, _ := realdata.Find()
	docs, err := filepath.Abs(filepath.Join(top, "docs"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	// The repositories stay too small to be packed, so git need not start another process after
	// each commit, merge and fetch to find that out.
	config := filepath.Join(home, "gitconfig")
	if err := os.WriteFile(config, []byte("[maintenance]\n\tauto = false\n"), 0o600); err != nil {
		return err
	}
	for _, kv := range [][2]string{
		{"HOME", home},
		{"REALDATA", data},
		{"DOCS", docs},
		{"XDG_CONFIG_HOME", filepath.Join(home, ".config")},
		{"XDG_DATA_HOME", filepath.Join(home, ".local", "share")},
		// A program built for the race detector sleeps for a second when it ends.
		{"GORACE", "atexit_sleep_ms=0"},
		// Short-lived programs need not collect garbage when they start.
		{"GOGC", "400"},
		// No file has to survive a crash of the machine.
		{"GIT_TEST_FSYNC", "0"},
		{"GIT_CONFIG_NOSYSTEM", "1"},
		{"GIT_CONFIG_GLOBAL", config},
		{"GIT_AUTHOR_NAME", "Ada"},
		{"GIT_AUTHOR_EMAIL", "ada@example.com"},
		{"GIT_COMMITTER_NAME", "Ada"},
		{"GIT_COMMITTER_EMAIL", "ada@example.com"},
		{"GIT_AUTHOR_DATE", "2026-06-01T12:00:00Z"},
		{"GIT_COMMITTER_DATE", "2026-06-01T12:00:00Z"},
		{"GIT_CEILING_DIRECTORIES", filepath.Dir(env.WorkDir)},
		{"JP_SESSION", "script"},
		{"RECORDED", recorded}, // sessions of real agents
		{"GIT_TERMINAL_PROMPT", "0"},
		{"LC_ALL", "C"},
		{"TERM", "dumb"},
	} {
		env.Setenv(kv[0], kv[1])
	}
	if lazily() {
		return setUpLazy(env)
	}
	return nil
}

// writeConversation is the script command
//
//	conversation DIR ID TITLE [RESULT...]
//
// It writes a conversation in the form of today's jp below DIR/.jp, with one turn in which a tool
// is called once for each RESULT. A RESULT "7*text" is expanded to seven different ones. ID is the
// name of the directory, and may begin with .archive/.
func writeConversation(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: conversation DIR ID TITLE [RESULT...]")
	}
	c := Conversation(args[2], args[3:])
	slug := args[1]
	dir := ts.MkAbs(filepath.Join(args[0], ".jp", "conversations", slug))
	ts.Check(os.MkdirAll(dir, 0o755))
	for name, data := range c {
		ts.Check(os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644))
	}
}
