package hooks

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// maxAncestors limits the search for the git that runs a hook: a manager of hooks may be between.
const maxAncestors = 8

// amends reports whether this hook was run by a git commit --amend. Git does not say so, so amends
// reads git's command line on systems that show it as a file.
func amends() bool {
	pid := os.Getppid()
	for range maxAncestors {
		words, parent, err := processOf(pid)
		if err != nil || parent <= 1 {
			return false
		}
		if i := slices.Index(words, "commit"); i > 0 && isGit(words[0]) {
			return slices.Contains(words[i:], "--amend")
		}
		pid = parent
	}
	return false
}

func isGit(program string) bool {
	name := filepath.Base(program)
	return name == "git" || name == "git-commit"
}

// processOf returns the command line and the parent of a process.
func processOf(pid int) (words []string, parent int, err error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil {
		return nil, 0, err
	}
	for word := range bytes.SplitSeq(bytes.TrimSuffix(line, []byte{0}), []byte{0}) {
		words = append(words, string(word))
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return nil, 0, err
	}
	// The name of the program is in parentheses and may have any character.
	var state byte
	_, err = fmt.Sscanf(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " %c %d", &state, &parent)
	return words, parent, err
}
