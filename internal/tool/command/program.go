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
	"just":  {"justfile", "Justfile", "JUSTFILE", ".justfile", ".env"},
	"make":  {"GNUmakefile", "makefile", "Makefile"},
	"gmake": {"GNUmakefile", "makefile", "Makefile"},
	"bmake": {"BSDmakefile", "makefile", "Makefile", ".depend"},
	"npm":   {"package.json", ".npmrc", server, "binding.gyp"},
	"npx":   {"package.json", ".npmrc"},
	"yarn": {
		"package.json", ".yarnrc", ".yarnrc.yml", ".pnp.cjs", ".pnp.loader.mjs", "binding.gyp",
	},
	"pnpm": {
		"package.json", ".npmrc", "pnpm-workspace.yaml", ".pnpmfile.cjs", ".pnpmfile.mjs",
		"pnpmfile.cjs", server, "binding.gyp",
	},
	"bun":  {"package.json", "bunfig.toml"},
	"bunx": {"package.json", "bunfig.toml"},
	"pnpx": {"package.json", ".npmrc"},
	"deno": {"deno.json", "deno.jsonc", "package.json"},
	"cargo": {
		"Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config", "rust-toolchain",
		"rust-toolchain.toml",
	},
	"go": {"go.mod", "go.work"},
	"task": {
		"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml",
		"Taskfile.dist.yml", "Taskfile.dist.yaml", ".taskrc.yml", ".taskrc.yaml",
	},
	"mage":     {"magefile.go"},
	"rake":     {"Rakefile", "rakefile", "Rakefile.rb"},
	"bundle":   {"Gemfile", ".bundle/config"},
	"composer": {"composer.json"},
	"gradle":   gradle,
	"gradlew":  gradle,
	"mvn":      maven,
	"mvnw":     maven,
	"invoke":   {"tasks.py"},
	"nox":      {"noxfile.py"},
	"tox":      {"tox.ini", "setup.cfg", "pyproject.toml"},
	"poetry":   {"pyproject.toml"},
	"uv":       {"pyproject.toml", "uv.toml"},
	"uvx":      {"uv.toml"},
	"hatch":    {"pyproject.toml", "hatch.toml"},
	"pdm":      {"pyproject.toml"},
	"pipenv":   {"Pipfile"},
	"pytest": {
		"conftest.py", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg",
	},
	"pre-commit": {".pre-commit-config.yaml"},
	"docker":     slices.Concat(compose, []string{"Dockerfile"}),
	"podman":     slices.Concat(compose, []string{"Dockerfile", "Containerfile"}),
	"nix":        {"flake.nix"},
	"nix-shell":  {"shell.nix", "default.nix"},
	"mise": {
		"mise.toml", ".mise.toml", "mise/config.toml", ".mise/config.toml", ".config/mise.toml",
		".config/mise/config.toml", "mise.local.toml", ".tool-versions",
	},
	"bazel":    bazel,
	"bazelisk": bazel,
	"direnv":   {".envrc"},
	"ninja":    {"build.ninja"},
	"cmake":    {"CMakeLists.txt", "CMakePresets.json"},
}

// installers start programs of the packages that they installed.
var installers = []string{"npm", "npx", "yarn", "pnpm", "pnpx", "bun", "bunx"}

// The files of programs with several names.
var (
	gradle = []string{
		"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts",
		"gradle.properties", "gradle/wrapper/gradle-wrapper.properties",
		"gradle/wrapper/gradle-wrapper.jar", "buildSrc/build.gradle", "buildSrc/build.gradle.kts",
	}
	maven = []string{
		"pom.xml", ".mvn/jvm.config", ".mvn/maven.config", ".mvn/extensions.xml",
		".mvn/wrapper/maven-wrapper.properties", ".mvn/wrapper/maven-wrapper.jar",
	}
	bazel = []string{
		".bazelrc", "tools/bazel", "tools/bazel.rc", ".bazeliskrc", ".bazelversion",
		"MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel", "BUILD", "BUILD.bazel",
	}
	msbuild = []string{
		"Directory.Build.props", "Directory.Build.targets", "Directory.Build.rsp",
		"Directory.Packages.props", "global.json", "nuget.config", "NuGet.Config",
	}
	compose = []string{
		"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml",
		"compose.override.yaml", "compose.override.yml", "docker-compose.override.yaml",
		"docker-compose.override.yml", ".env",
	}
)

// loaders do not run their arguments, but the code in files that they look for by themselves.
var loaders = map[string][]string{
	"eslint": {
		"eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts",
		".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yml", ".eslintrc",
	},
	"prettier": {
		"prettier.config.js", "prettier.config.mjs", "prettier.config.cjs",
		"prettier.config.ts", ".prettierrc.js", ".prettierrc.mjs", ".prettierrc.cjs",
		".prettierrc.ts", ".prettierrc", ".prettierrc.json", ".prettierrc.yml", "package.json",
	},
	"jest":    {"jest.config.js", "jest.config.ts", "jest.config.mjs", "package.json"},
	"vitest":  {"vitest.config.ts", "vitest.config.js", "vite.config.ts", "vite.config.js"},
	"mocha":   {".mocharc.js", ".mocharc.cjs", ".mocharc.json", ".mocharc.yml", "package.json"},
	"webpack": {"webpack.config.js"},
	"rspec":   {".rspec", "spec/spec_helper.rb"},
	"rubocop": {".rubocop.yml"},
	"pylint":  {".pylintrc", "pylintrc", "pyproject.toml"},
	"mypy":    {"mypy.ini", ".mypy.ini", "setup.cfg", "pyproject.toml"},
	"flake":   {".flake8", "setup.cfg", "tox.ini"},
	"pip":     {"pyproject.toml", "setup.py"},
	"mix":     {"mix.exs"},
	"sbt":     {"build.sbt", ".sbtopts", ".jvmopts", "project/plugins.sbt", "project/build.sbt"},
	"vite":    {"vite.config.ts", "vite.config.js", "vite.config.mjs"},
	"gulp":    {"gulpfile.js", "gulpfile.mjs", "gulpfile.cjs", "gulpfile.ts"},
	"grunt":   {"Gruntfile.js", "gruntfile.js"},
	"stylelint": {
		"stylelint.config.js", "stylelint.config.mjs", "stylelint.config.cjs",
		".stylelintrc", ".stylelintrc.json", ".stylelintrc.js", ".stylelintrc.mjs",
	},
	"playwright":     {"playwright.config.ts", "playwright.config.js"},
	"dotnet":         msbuild,
	"msbuild":        msbuild,
	"docker-compose": compose,
	"ant":            {"build.xml"},
	"lein":           {"project.clj"},
	"clj":            {"deps.edn"},
	"swift":          {"Package.swift"},
	"zig":            {"build.zig", "build.zig.zon"},
	"scons":          {"SConstruct", "Sconstruct", "sconstruct"},
	"waf":            {"wscript"},
	"snakemake":      {"Snakefile", "workflow/Snakefile"},
	"lefthook":       {"lefthook.yml", "lefthook.yaml", ".lefthook.yml", "lefthook.toml"},
	"turbo":          {"turbo.json", "package.json"},
	"nx":             {"nx.json", "package.json"},
	"lerna":          {"lerna.json", "package.json"},
	"jq":             {}, // in directories that its line names
	"golangci-lint":  {".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"},
}

// server is what npm starts of a package that names nothing else: the program itself.
const server = "server.js"

// LookedFor reports whether a program looks for a file with this path, below any directory, by
// itself, and not as the program that the repository is about. The path has slashes and is in lower
// case.
func LookedFor(name string) bool {
	for _, table := range []map[string][]string{runners, loaders} {
		for _, files := range table {
			if slices.ContainsFunc(files, func(file string) bool {
				return file != server && strings.HasSuffix("/"+name, "/"+strings.ToLower(file))
			}) {
				return true
			}
		}
	}
	return false
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
	"awk":    {".awk", ".so"},
	"gawk":   {".awk", ".so"},
	"jq":     {".jq", ".json"},
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

// Starts reports whether a line starts programs that its arguments name, or obeys a directory that
// they name.
func Starts(words []string) bool {
	return len(words) > 0 && (Runs(words[0]) || gitStarts(words) || Base(words[0]) == "git" &&
		slices.ContainsFunc(words, func(w string) bool {
			return w == "-C" || strings.HasPrefix(w, "--git-dir")
		}))
}

// Options and commands of git that start programs which the line or its configuration names.
var (
	gitGlobal = []string{"-c", "--config-env", "--exec-path"}
	gitMore   = []string{
		"--exec", "--extcmd", "--upload-pack", "--receive-pack", "--template", "--smtp-server",
		"--sendmail-cmd", "--to-cmd", "--cc-cmd", "--open-files-in-pager", "bisect", "foreach",
		"rebase", "filter-branch", "difftool", "mergetool",
	}
	gitValued = []string{"-C", "--git-dir", "--work-tree", "--namespace"}
)

// gitCommand returns the command of a line of git, "" if it has none.
func gitCommand(words []string) string {
	for i, w := range words[1:] {
		if !strings.HasPrefix(w, "-") && !slices.Contains(gitValued, words[i]) {
			return w
		}
	}
	return ""
}

// gitStarts reports whether a line of git has one of these.
func gitStarts(words []string) bool {
	global := len(words) > 0 && Base(words[0]) == "git"
	if !global {
		return false
	}
	for i, w := range words[1:] {
		name, _, _ := strings.Cut(w, "=")
		if global && slices.Contains(gitGlobal, name) || slices.Contains(gitMore, name) {
			return true
		}
		global = global && (strings.HasPrefix(w, "-") || slices.Contains(gitValued, words[i]))
	}
	return false
}

// isCode reports whether the word after these is program text, as for sh -c.
func isCode(words []string) bool {
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
