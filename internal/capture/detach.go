package capture

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// places are the variables in which git tells its hooks where it works: a temporary index, a
// relative path. A process that outlives the hook has to find the repository itself.
const places = " GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY " +
	"GIT_PREFIX "

// Detach starts this program, from the user's PATH, and does not wait for it: it continues when the
// agent or the git that ran the hook ends.
func Detach(dir string, env []string, args ...string) error {
	cmd := exec.Command("git-jp", args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.Contains(places, " "+name+" ")
	})
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start git-jp: %w", err)
	}
	return cmd.Process.Release()
}
