package command_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/tool/command"
)

// placeOf returns a place with files.
func placeOf(names string) command.Place {
	files := strings.Fields(names)
	below := func(dir string) (listed []string) {
		for _, f := range files {
			rest, ok := strings.CutPrefix(f, dir+"/")
			if dir == "." {
				rest, ok = f, true
			}
			if name, _, _ := strings.Cut(rest, "/"); ok && !slices.Contains(listed, name) {
				listed = append(listed, name)
			}
		}
		return listed
	}
	left := 1 << 12
	return command.Place{
		List: func(dir string) ([]string, bool) {
			listed := below(path.Clean(dir))
			return listed, listed != nil
		},
		Has:  func(name string) bool { return slices.Contains(files, name) || below(name) != nil },
		Left: &left,
	}
}

// TestFilesThatProgramsLookFor names files that a line does not: a change of them changes what runs.
func TestFilesThatProgramsLookFor(t *testing.T) {
	for _, tt := range []struct{ line, file string }{
		{"eslint web", "web/.eslintrc.js"},
		{"prettier --check web", "web/.prettierrc.mjs"},
		{"pytest tests", "tests/conftest.py"},
		{"git --git-dir=sub/g log", "sub/g/config"},
		{"env GIT_DIR=sub/g git commit", "sub/g/hooks/pre-commit"},
		{"python3 -m json.tool a.json", "json.py"},
		{"python3 -m json.tool a.json", "json/__init__.py"},
		{"python3 -m a.b.c", "a/b/__init__.py"},
		{"yarn test", ".pnp.cjs"},
		{"pnpm test", ".pnpmfile.cjs"},
		{"cargo test", "rust-toolchain.toml"},
		{"gradle test", "gradle.properties"},
		{"./gradlew test", "gradle/wrapper/gradle-wrapper.jar"},
		{"mvn test", ".mvn/jvm.config"},
		{"./mvnw test", "pom.xml"},
		{"bazel test //...", ".bazelrc"},
		{"nix-shell --run true", "shell.nix"},
		{"docker compose run x", "compose.override.yaml"},
		{"docker-compose run x", "docker-compose.yml"},
		{"mise run x", "mise.toml"},
		{"dotnet test", "Directory.Build.props"},
		{"uv run x", "uv.toml"},
		{"pytest", "setup.cfg"},
		{"flake8", "tox.ini"},
		{"just x", ".env"},
		{"go generate ./sub", "sub/gen.go"},
		{"npx eslint web", "node_modules/.bin/eslint"},
		{"npm exec -- tsc", "node_modules/.bin/tsc"},
		{"sh -c 'cd web && pnpm exec jest'", "web/node_modules/.bin/jest"},
		{"bunx vite", "node_modules/.bin/vite"},
		{"just sub/test", "sub/justfile"},
		{"just sub/deep/test", "sub/deep/Justfile"},
		{"make x", "Makefile.sh"},
		{"make -C sub x", "sub/GNUmakefile.sh"},
		{"make -f sub/g/HEAD x", "sub/g/HEAD.sh"},
		{"gmake x", "RCS/Makefile,v"},
		{"bmake x", ".depend"},
		{"npm start", "server.js"},
		{"pnpm install", "binding.gyp"},
		{"deno task x", "package.json"},
		{"git -c alias.x='!sh a.sh' x", "a.sh"},
		{"git rebase -x 'sh a.sh' HEAD~1", "a.sh"},
		{"git submodule foreach 'make x'", "Makefile"},
		{"git bisect run make x", "Makefile"},
		{"git -c core.hooksPath=own commit", "own/pre-commit"},
		{"git --exec-path=own x", "own/git-x"},
		{"git clone --template=own a b", "own/hooks/post-checkout"},
		{`gawk '@include "lib"'`, "lib.awk"},
		{"awk -f sub/lib", "sub/lib.awk"},
		{`jq -L sub 'import "a" as a; a::f' b`, "sub/a.jq"},
		{`jq 'import "d" as $d; $d'`, "d.json"},
		{"task x", ".taskrc.yml"},
		{"rsync -e 'sh a.sh' b c:", "a.sh"},
	} {
		words, err := command.Words(tt.line)
		if err != nil {
			t.Fatal(err)
		}
		place := placeOf("sub/g/HEAD " + tt.file)
		if got, _, _ := place.Files(words, false); !slices.Contains(got, tt.file) {
			t.Errorf("%q: %q has no %s", tt.line, got, tt.file)
		}
	}
	place := placeOf("config/routes.rb HEAD.md sub/a")
	if got, _, _ := place.Files([]string{"git", "log", "sub"}, false); !slices.Equal(got, []string{"sub"}) {
		t.Errorf("git log: %q", got)
	}
}

// TestLooks checks which programs the question names because no table has what they look for.
func TestLooks(t *testing.T) {
	for line, want := range map[string]string{
		"terraform plan": "terraform", "/opt/own.exe x": "own", "bin/own x": "", "python3 -m json.tool": "python",
		"wc -l a": "", "git log": "", "make x": "", "sed p": "", "eslint": "eslint", "sh a.sh": "",
		"pytest": "pytest", "cargo test": "cargo", "go test ./...": "go", "uv run x": "uv", "npx x": "npx",
		"timeout 60 terraform plan": "terraform", "env A=1 make": "", "find . -name x": "", "env": "",
		"timeout -k 1 60 make": "a program that timeout starts", "xargs cat": "",
		"find . -exec x {} +":    "a program that find starts",
		"sh -c 'terraform plan'": "a program that sh starts", "bash -ec 'cat a | wc'": "",
		"git -c alias.x=!own x": "a program that git starts", "git bisect run x": "a program that git starts",
		"git -C a --no-pager -c x.y=z log": "a program that git starts", "git switch -c x": "git", "git -C a log": "",
		"git": "", "git -C a --no-pager commit": "git", "git --git-dir=a status": "git",
		"npm ci": "npm", "yarn x": "yarn", "pnpm x": "pnpm", "direnv exec . make": "direnv", "jq . a": "",
	} {
		words, err := command.Words(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := command.Looks(words, false); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	for script, want := range map[string]bool{
		"": false, "terraform plan": true, "cd sub && ./run >x 2>&1": false, "A=1 rg x | sort; make": false,
		"if true; then pytest; fi": true, "for f in a b; do cat $f; done": false, "x=$(own)": true,
		"( own )": true, "exec own": true, "timeout 5 'own'": true, "$X": true,
		"printf 'own\n; own\n' >>a # b": false, "sh -c 'make; own'": true, "#!/bin/own\nmake": false,
	} {
		if got := command.Looks([]string{script}, true); (got != "") != want {
			t.Errorf("script %q: %q, want %t", script, got, want)
		}
	}
}
