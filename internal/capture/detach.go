package capture

import (
	"fmt"
	"os/exec"
)

// Detach starts this program, as the user's PATH has it, and waits neither for it nor with it: it
// lives on when the agent that ran the hook ends.
func Detach(dir string, env []string, args ...string) error {
	cmd := exec.Command("git-jp", args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start git-jp: %w", err)
	}
	return cmd.Process.Release()
}
