package command

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// prefixes start the program that their arguments name.
var prefixes = []string{
	"env", "sudo", "doas", "su", "nice", "ionice", "nohup", "timeout", "time", "setsid", "stdbuf",
	"xargs", "parallel", "watch", "chroot", "unshare", "busybox", "strace", "ssh", "entr",
}

// shells and languages run text that they are given.
var shells = []string{
	"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "csh", "tcsh", "pwsh",
	"powershell", "cmd", "eval",
}

var languages = []string{
	"python", "python2", "python3", "perl", "ruby", "node", "deno", "bun", "php", "lua", "awk",
	"gawk", "mawk", "sed", "osascript", "tclsh", "Rscript", "julia",
}

// runners pass their arguments to recipes of a file, in most cases to a shell there. The files are
// those that they look for by themselves.
var runners = map[string][]string{
	"just":  {"justfile", "Justfile", "JUSTFILE", ".justfile"},
	"make":  {"GNUmakefile", "makefile", "Makefile"},
	"gmake": {"GNUmakefile", "makefile", "Makefile"},
	"bmake": {"BSDmakefile", "makefile", "Makefile"},
	"npm":   {"package.json", ".npmrc"},
	"npx":   {"package.json", ".npmrc"},
	"yarn":  {"package.json", ".yarnrc", ".yarnrc.yml"},
	"pnpm":  {"package.json", ".npmrc", "pnpm-workspace.yaml"},
	"bun":   {"package.json", "bunfig.toml"},
	"deno":  {"deno.json", "deno.jsonc"},
	"cargo": {"Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config"},
	"task": {
		"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml",
		"Taskfile.dist.yml", "Taskfile.dist.yaml",
	},
	"mage":       {"magefile.go"},
	"rake":       {"Rakefile", "rakefile", "Rakefile.rb"},
	"bundle":     {"Gemfile", ".bundle/config"},
	"composer":   {"composer.json"},
	"gradle":     {"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"},
	"mvn":        {"pom.xml"},
	"invoke":     {"tasks.py"},
	"nox":        {"noxfile.py"},
	"tox":        {"tox.ini", "setup.cfg", "pyproject.toml"},
	"poetry":     {"pyproject.toml"},
	"uv":         {"pyproject.toml"},
	"pytest":     {"conftest.py", "pytest.ini", "pyproject.toml", "tox.ini"},
	"pre-commit": {".pre-commit-config.yaml"},
	"docker":     {"Dockerfile", "compose.yaml", "compose.yml", "docker-compose.yml"},
	"nix":        {"flake.nix"},
	"direnv":     {".envrc"},
	"ninja":      {"build.ninja"},
	"cmake":      {"CMakeLists.txt", "CMakePresets.json"},
}

// Base returns the name of a program as in the tables.
func Base(program string) string {
	return strings.TrimSuffix(path.Base(filepath.ToSlash(program)), ".exe")
}

// Runs reports whether a program is known to run its arguments, itself or by another program.
func Runs(program string) bool {
	name := Base(program)
	_, runner := runners[name]
	return runner || slices.Contains(prefixes, name) || slices.Contains(shells, name) ||
		slices.Contains(languages, name)
}

// IsCode reports whether the word after these is program text, as for sh -c.
func IsCode(words []string) bool {
	for i, w := range words[:max(len(words)-1, 0)] {
		name := Base(w)
		var flags string
		switch {
		case slices.Contains(shells, name):
			flags = "c"
		case slices.Contains(languages, name):
			flags = "ecr"
		default:
			if i == 0 && !slices.Contains(prefixes, name) {
				return false
			}
			continue
		}
		last := words[len(words)-1]
		short := len(last) > 1 && last[0] == '-' && last[1] != '-'
		return short && strings.ContainsAny(last, flags) || last == "--eval" || last == "--command"
	}
	// awk and similar programs take program text without a flag.
	return len(words) == 1 &&
		slices.Contains([]string{"awk", "gawk", "mawk", "sed"}, Base(words[0]))
}

// Files returns the files of a workspace that a command line runs, whether they exist or not: those
// that it names, and those that its programs look for.
func Files(words []string) []string {
	var all []string
	add := func(name string) {
		name = path.Clean(filepath.ToSlash(name))
		if filepath.IsLocal(name) && name != "." && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	for i, w := range words {
		if strings.Contains(w, "{{") || strings.Contains(w, "{%") {
			continue
		}
		if i == 0 && !strings.ContainsAny(w, `/\`) {
			// A bare name is looked up in PATH.
		} else if !strings.HasPrefix(w, "-") {
			add(w)
		}
		if i == 0 || slices.Contains(prefixes, Base(words[0])) {
			for _, name := range runners[Base(w)] {
				add(name)
			}
		}
	}
	return all
}
