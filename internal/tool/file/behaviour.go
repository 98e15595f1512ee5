package file

import (
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/tool/command"
)

// Files that change what other programs do: git, a shell, an editor, a build, a CI or another model
// runs them, or reads from them what to run, when the user only works with the tree. Each word is a
// pattern for one part of a path, in lower case. Those that [command.LookedFor] knows are such
// files, too.
const (
	// behaviourDirs include everything below them.
	behaviourDirs = `
.jp* .git* .hg .jj .sl .husky .lefthook
.forgejo .circleci .buildkite .semaphore .tekton .woodpecker
.config .direnv .mise .autoenv
.vscode .devcontainer .idea .zed .fleet .vs .nova .nvim .vim .helix
.agents .claude .cursor .gemini .codex .windsurf .clinerules .cline .roo .continue .augment
.kiro .junie .opencode .amp .qwen .factory .trae .crush
.bin .cargo .mvn .bundle .yarn .storybook .docker .ssh .gnupg .aws .kube
`
	behaviourFiles = `
.hgrc .lfsconfig lefthook*.y*ml lefthook*.toml lefthook*.json .lefthook*
.pre-commit-config.y*ml .pre-commit-hooks.y*ml prek.toml .overcommit.yml .lintstagedrc*
lint-staged.config.* .simple-git-hooks.* simple-git-hooks.*

.drone.y*ml .travis.y*ml *appveyor.y*ml .woodpecker.y*ml .cirrus.* jenkinsfile* codeowners
azure-pipelines*.y*ml bitbucket-pipelines.y*ml cloudbuild.y*ml action.y*ml dependabot.y*ml
renovate.json* .renovaterc*

.envrc .env .env.* .autoenv* .tool-versions mise*.toml .mise*.toml .nvmrc .ruby-version
.python-version .node-version .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc
.zshenv .zprofile .zlogin .inputrc .netrc .curlrc .wgetrc .gdbinit .lldbinit .screenrc .tmux.conf

*.code-workspace .devcontainer.json *.iml .exrc .nvimrc .nvim.lua .vimrc .lvimrc .dir-locals*.el
*.sublime-project .watchmanconfig .clangd compile_commands.json compile_flags.txt

agents*.md claude*.md gemini.md qwen.md skill.md copilot-instructions.md .cursorrules
.windsurfrules .clinerules .roorules .roomodes .aider* .goosehints opencode.json* .mcp.json
mcp.json .rules crush.json

makefile* gnumakefile *.mk justfile .justfile *.just taskfile*.y*ml magefile.go rakefile
earthfile tiltfile procfile* cmakelists.txt *.cmake cmake*presets.json meson.build sconstruct
sconscript configure configure.ac wscript build.ninja noxfile.py dodo.py

package.json package-lock.json npm-shrinkwrap.json pnpm-workspace.yaml pnpm-lock.yaml
.pnpmfile.* yarn.lock bun.lock* bunfig.toml deno.json* deno.lock .npmrc .yarnrc* .pnp.*
lerna.json nx.json turbo.json *.config.js *.config.[cm]js *.config.ts *.config.[cm]ts
.babelrc* .eslintrc* .prettierrc* .mocharc* gulpfile.* gruntfile.*

build.rs cargo.toml cargo.lock rust-toolchain* go.mod go.sum go.work go.work.sum .golangci.*
.goreleaser.* tools.go

pyproject.toml setup.py setup.cfg conftest.py tox.ini pytest.ini .pytest.ini sitecustomize.py
usercustomize.py *.pth pipfile pipfile.lock requirements*.txt poetry.lock uv.lock uv.toml
pdm.lock .pylintrc .pypirc pip.conf mypy.ini .mypy.ini

gemfile gemfile.lock *.gemspec .rspec .irbrc .pryrc guardfile composer.json composer.lock
phpunit.xml* mix.exs rebar.config pom.xml mvnw* build.gradle* settings.gradle*
gradle.properties gradlew* gradle-wrapper.* *.versions.toml build.sbt *.sbt project.clj
*.csproj *.fsproj *.vbproj *.sln *.slnx *.props *.targets nuget.config global.json
package.swift *.pbxproj podfile* cartfile* *.cabal stack.yaml cabal.project* dune-project *.opam
build.zig build.zig.zon pubspec.y*ml

.bazelrc .bazelversion workspace workspace.bazel module.bazel build build.bazel *.bzl buck
.buckconfig

dockerfile* *.dockerfile containerfile* .dockerignore docker-compose*.y*ml compose*.y*ml
vagrantfile *.nix flake.lock skaffold.y*ml ansible.cfg terragrunt.hcl .terraformrc
netlify.toml vercel.json wrangler.*
`
)

// ChangesBehaviour reports whether the file at a slash path changes how other programs behave. It
// ignores case and characters that some file system ignores in a name: there the path refers to
// that file.
func ChangesBehaviour(name string) bool {
	parts := lists.Map(strings.Split(name, "/"), foldName)
	return slices.ContainsFunc(parts, func(part string) bool {
		return matchesWord(behaviourDirs, part)
	}) || matchesWord(behaviourFiles, parts[len(parts)-1]) ||
		command.LookedFor(strings.Join(parts, "/"))
}

func matchesWord(patterns, part string) bool {
	for pattern := range strings.FieldsSeq(patterns) {
		if ok, _ := path.Match(pattern, part); ok { // a test parses every pattern
			return true
		}
	}
	return false
}

// foldName maps all spellings that some file system treats as the same name to one: it ignores
// case, trailing dots and spaces, streams of Windows, and code points that HFS+ ignores.
func foldName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e ||
			r >= 0x206a && r <= 0x206f || r == 0xfeff {
			return -1
		}
		return r
	}, name)
	name, _, _ = strings.Cut(name, ":")
	// Both mappings, for letters whose upper case has another lower case, such as ſ.
	return strings.ToLower(strings.ToUpper(strings.TrimRight(name, ". ")))
}
