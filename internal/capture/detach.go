package capture

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// places are the variables in which git tells its hooks where it works: an index of the moment, a
// path relative to somewhere. What lives on finds them anew.
const places = " GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY " +
	"GIT_PREFIX "

// Detach starts this program, as the user's PATH has it, and waits neither for it nor with it: it
// lives on when the agent or the git that ran the hook ends.
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
