package scripts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/stage"
	"github.com/rogpeppe/go-internal/testscript"
)

// lazyEnv makes every repository of the scripts one whose working tree leaves blobs out.
const lazyEnv = "GIT_JP_TEST_LAZY"

// notLazy are the scripts that do not hold there, by the reason.
var notLazy = map[string][]string{
	"git refuses paths of blobs in add and rm, and takes their files out with a branch": {
		"check_advice", "check_content", "check_merge", "check_shapes", "gc_foreign", "gc_killed",
		"gc_refused", "grep_refs", "hook_blocked", "import_rewound", "lfs_pointers", "merge_skew",
		"migrate_trouble", "real_conversations", "redact_merge", "repair_content", "show_files",
		"site_links", "stage_choice", "stage_hidden", "update_branch",
	},
	"a blob that the index has is present and read, whatever becomes of its file": {
		"check_formats", "check_sources", "check_unknown", "compact_inplace", "export_agents",
		"hook_damaged", "lfs_real", "picture_stopped", "print_forge", "redact_left", "redact_picked",
		"repair_places", "secrets_check", "stage_refused", "status_states", "status_whole",
	},
	"a collection deletes files, and a committed blob has none": {
		"check_encoding", "gc_extension", "gc_plan", "gc_why",
	},
	"processes or files of blobs are counted": {
		"hook_idle", "import_kept_out", "redact_large", "stage_first", "stage_thousand",
	},
	"it makes a lazy clone itself": {
		"lazy_failures", "lazy_merge", "lazy_redact", "lazy_unpublished", "log_trees",
	},
	"git ignores untracked blobs there, and merges over them":   {"update_untracked"},
	"it leaves blobs out as a person does":                      {"check_sparse"},
	"a mark of its own to leave a file out is taken off by git": {"foreign_files"},
}

// lazily reports whether the scripts run in lazy clones.
func lazily() bool { return os.Getenv(lazyEnv) != "" }

// holdsLazily reports whether a script holds in lazy clones too.
func holdsLazily(script string) bool {
	name := strings.TrimSuffix(filepath.Base(script), ".txtar")
	for _, names := range notLazy {
		if slices.Contains(names, name) {
			return false
		}
	}
	return true
}

// setUpLazy gives git a template for new repositories.
func setUpLazy(env *testscript.Env) error {
	dir := filepath.Join(env.WorkDir, ".template")
	const config = "[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = false\n" +
		"[jp]\n\tcheckout = lazy\n"
	err := os.MkdirAll(filepath.Join(dir, "info"), 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o644)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "info", "sparse-checkout"),
			[]byte("/*\n"+stage.LeftOut+"\n"), 0o644)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "info", "exclude"),
			[]byte(strings.TrimPrefix(stage.LeftOut, "!")+"\n"), 0o644)
	}
	env.Setenv("GIT_TEMPLATE_DIR", dir)
	return err
}
