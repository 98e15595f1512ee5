package file

import (
	"path"
	"strings"
	"testing"
)

func TestChangesBehaviour(t *testing.T) {
	for _, name := range []string{
		".jp.toml", ".gitattributes", ".gitmodules", "sub/.gitignore", ".envrc",
		".vscode/tasks.json", ".devcontainer/devcontainer.json", ".github/workflows/ci.yml",
		".husky/pre-commit", ".gitlab-ci.yml", "Makefile", "sub/GNUmakefile", "justfile",
		"package.json", "a/b/package.json", "build.rs", ".cargo/config.toml", "tests/conftest.py",
		"AGENTS.md", "CLAUDE.md", "claude.local.md", ".pre-commit-config.yaml", "lefthook.yml",
		"Jenkinsfile", ".npmrc", "pyproject.toml", "setup.py", "tox.ini", ".bazelrc", ".idea/x.xml",
		".zed/settings.json", ".claude/settings.json", ".cursor/rules/a.mdc", ".gemini/x", ".codex/x",
		"Dockerfile", "Dockerfile.dev", "docker-compose.yml", "compose.override.yaml", "flake.nix",
		"go.mod", "vite.config.mts", "BUILD", "pkg/BUILD.bazel", ".mcp.json", ".config/nextest.toml",
		"BSDmakefile", "sub/.taskrc.yml", "binding.gyp", "mise/config.toml", "tools/bazel", "Snakefile",
		"node_modules/.bin/eslint", ".stylelintrc.js", "sub/.bazeliskrc",
		// other spellings of them
		"MAKEFILE", "package.JSON", "pac\u212aage.json", "conftest.py.", "Makefile ",
		".GitHub/workflows/x.yml", ".git\u200cattributes", "Makefile::$DATA", "ju\u017ftfile", "Workflow/Snakefile:x", "ta\u017fks.py",
	} {
		if !ChangesBehaviour(name) {
			t.Errorf("%q is not asked for", name)
		}
	}
	for _, name := range []string{
		"main.go", "src/lib.rs", "docs/agents/howto.md", "build/out.txt", "workspace/a.py",
		"make.go", "README.md", "packages/json.go", "bazel", "x/config.toml", "server.js", "jp.md", "x/github/y.yml", "test.py",
	} {
		if ChangesBehaviour(name) {
			t.Errorf("%q is asked for", name)
		}
	}
}

// TestBehaviourPatterns checks that every pattern is valid and in folded spelling.
func TestBehaviourPatterns(t *testing.T) {
	for pattern := range strings.FieldsSeq(behaviourDirs + behaviourFiles) {
		if _, err := path.Match(pattern, "x"); err != nil || pattern != foldName(pattern) ||
			strings.Contains(pattern, "/") {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}
