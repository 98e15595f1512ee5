//go:build !unix

package process

import (
	"os/exec"
	"time"
)

func group(*exec.Cmd, func()) {}

func endGroup(*exec.Cmd, <-chan time.Time) {}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
