package gitint

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
)

// A Setting is one value of a configuration key.
type Setting struct {
	// Scope is system, global, local, worktree or command.
	Scope string
	// Value is also "" for a key without a value, which git takes for true.
	Value string
}

// exit codes of git config
const (
	configAbsent     = 1 // reading a key without a value
	configUnsetWrong = 5 // unsetting a missing key
)

// Config returns the effective value of key, and whether there is one.
func (r *Repo) Config(ctx context.Context, key string) (string, bool, error) {
	all, err := r.ConfigAll(ctx, key)
	if err != nil || len(all) == 0 {
		return "", false, err
	}
	return all[len(all)-1].Value, true, nil
}

// ConfigAt is [Repo.Config] for a directory, which need not be in a repository.
func ConfigAt(ctx context.Context, o Options, key string) (string, bool, error) {
	r := &Repo{git: o.git()}
	r.git.Env = r.git.Env.Clean()
	return r.Config(ctx, key)
}

// ConfigAll returns every value of key, the effective one last.
func (r *Repo) ConfigAll(ctx context.Context, key string) (all []Setting, err error) {
	err = r.eachSetting(ctx, "--get-all", key, func(s Setting) { all = append(all, s) })
	return all, err
}

// ConfigMatching returns every value of the keys that an extended regular expression matches, by
// key; keys are in git's form, with section and name in lower case.
func (r *Repo) ConfigMatching(ctx context.Context, pattern string) (map[string][]Setting, error) {
	all := make(map[string][]Setting)
	err := r.eachSetting(ctx, "--get-regexp", pattern, func(s Setting) {
		key, value, _ := strings.Cut(s.Value, "\n")
		s.Value = value
		all[key] = append(all[key], s)
	})
	return all, err
}

// eachSetting calls f for everything that git config prints of a key or a pattern.
func (r *Repo) eachSetting(ctx context.Context, mode, key string, f func(Setting)) error {
	out, err := r.git.Run(ctx, git.Command{Args: []string{
		"config", "-z", "--show-scope", mode, key,
	}})
	if isAbsent(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read configuration %q: %w", key, err)
	}
	fields := splitZ(out)
	if len(fields)%2 != 0 {
		return fmt.Errorf("read configuration %q: %d fields", key, len(fields))
	}
	for ; len(fields) > 0; fields = fields[2:] {
		f(Setting{Scope: fields[0], Value: fields[1]})
	}
	return nil
}

// SharedKey names the setting for who else may read and write what git creates in a repository.
const SharedKey = "core.sharedrepository"

// IsGroupShared reports whether a value of [SharedKey] lets the group write: one of git's words,
// true, or a mode.
func IsGroupShared(value string) bool {
	switch strings.ToLower(value) {
	case "group", "all", "world", "everybody", "true", "yes", "on", "":
		return true
	}
	mode, err := strconv.ParseUint(value, 8, 32)
	return err == nil && (mode == 1 || mode == 2 || mode&0o620 == 0o620)
}

// isAbsent reports whether a key has no value. For a misspelt key git exits with the same code, but
// prints an error.
func isAbsent(err error) bool {
	ee := new(ExitError)
	return errors.As(err, &ee) && ee.Code == configAbsent && ee.Stderr == ""
}

// SetConfig sets key to one value in the configuration of the repository. A lock that another
// process holds is a *LockedError.
func (r *Repo) SetConfig(ctx context.Context, key, value string) error {
	return r.changeConfig(ctx, key, "--replace-all", key, value)
}

// UnsetConfig removes every value of key from the configuration of the repository. A missing key is
// no error.
func (r *Repo) UnsetConfig(ctx context.Context, key string) error {
	err := r.changeConfig(ctx, key, "--unset-all", key)
	if git.ExitCode(err) == configUnsetWrong {
		return nil
	}
	return err
}

func (r *Repo) changeConfig(ctx context.Context, key string, args ...string) error {
	args = append([]string{"config", "--local"}, args...)
	_, err := r.git.Run(ctx, git.Command{Args: args, Write: true})
	if err == nil {
		return nil
	}
	if locked := r.configLock(); locked != nil && git.ExitCode(err) != configUnsetWrong {
		return fmt.Errorf("change configuration %q: %w", key, locked)
	}
	return fmt.Errorf("change configuration %q: %w", key, err)
}

// splitZ splits the output of git with -z.
func splitZ(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// joinZ returns the input of a command that reads with -z.
func joinZ(paths []string) *strings.Reader {
	var b strings.Builder
	for _, p := range paths {
		b.WriteString(p)
		b.WriteByte(0)
	}
	return strings.NewReader(b.String())
}
