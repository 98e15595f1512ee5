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
	"xargs", "parallel", "watch", "chroot", "unshare", "busybox", "strace", "ssh", "entr", "find",
}

// shells and languages run text that they are given.
var shells = []string{
	"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "csh", "tcsh", "pwsh",
	"powershell", "cmd", "eval",
}

var languages = []string{
	"python", "perl", "ruby", "node", "deno", "bun", "php", "lua", "awk",
	"gawk", "mawk", "sed", "osascript", "tclsh", "Rscript", "julia", "pypy", "nodejs", "tsx",
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
	"go":    {"go.mod", "go.work"},
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

// loaders do not run their arguments, but the code in files that they look for by themselves.
var loaders = map[string][]string{
	"eslint": {
		"eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts",
		".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yml", ".eslintrc",
	},
	"prettier": {
		"prettier.config.js", "prettier.config.mjs", ".prettierrc.js", ".prettierrc",
		"package.json",
	},
	"jest":    {"jest.config.js", "jest.config.ts", "jest.config.mjs", "package.json"},
	"vitest":  {"vitest.config.ts", "vitest.config.js", "vite.config.ts", "vite.config.js"},
	"mocha":   {".mocharc.js", ".mocharc.cjs", ".mocharc.json", ".mocharc.yml", "package.json"},
	"webpack": {"webpack.config.js"},
	"rspec":   {".rspec", "spec/spec_helper.rb"},
	"rubocop": {".rubocop.yml"},
	"pylint":  {".pylintrc", "pylintrc", "pyproject.toml"},
	"mypy":    {"mypy.ini", "pyproject.toml"},
	"pip":     {"pyproject.toml", "setup.py"},
	"mix":     {"mix.exs"},
	"sbt":     {"build.sbt"},
}

// endings of the names of code, for programs that run a name without one, a module or a directory.
var endings = map[string][]string{
	"python": {".py", "/__main__.py", "/__init__.py"},
	"pypy":   {".py", "/__main__.py", "/__init__.py"},
	"node":   {".js", ".cjs", ".mjs", ".json", "/index.js", "/package.json"},
	"nodejs": {".js", ".cjs", ".mjs", ".json", "/index.js", "/package.json"},
	"bun":    {".js", ".ts", ".tsx", ".mjs", "/index.js", "/index.ts", "/package.json"},
	"ruby":   {".rb"},
	"lua":    {".lua", "/init.lua"},
}

// Base returns the name of a program as in the tables, without the version at its end.
func Base(program string) string {
	name := strings.TrimSuffix(path.Base(filepath.ToSlash(program)), ".exe")
	if bare := strings.TrimRight(name, "0123456789."); bare != "" {
		return bare
	}
	return name
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
