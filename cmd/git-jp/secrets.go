package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/redact"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// rulesOffKey is the key of the claim of a workspace to switch a rule off.
const rulesOffKey = "secrets.off"

func ruleOffClaim(dir, name string) trust.Claim {
	return trust.Claim{
		Kind: trust.Setting, Key: rulesOffKey, Value: name,
		Origin: path.Join(dir, secrets.RulesFile),
	}
}

// rulesOff returns those of the rules that a workspace switches off that the user approved. The
// directory .jp is below base.
func (a *app) rulesOff(base string) func(dir string, names []string) []string {
	return func(dir string, names []string) []string {
		root := filepath.Dir(filepath.Join(base, filepath.FromSlash(dir)))
		approved := a.host().Approved(root)
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return !approved(ruleOffClaim(dir, name))
		})
	}
}

// rulesOffClaims returns the claims of the workspace's file.
func rulesOffClaims(w *workspace.Workspace) (claims []trust.Claim) {
	file := filepath.Join(w.Dir(), filepath.FromSlash(secrets.RulesFile))
	data, err := regular.ReadFile(file, secrets.MaxFile)
	if err != nil {
		return nil
	}
	committed, err := secrets.ParseRules(data)
	if err != nil {
		return nil // a check says what is wrong
	}
	for _, name := range committed.Off {
		claims = append(claims, ruleOffClaim(workspace.DirName, name))
	}
	return claims
}

// leakOptions say what is no secret by the user's leave.
func (a *app) leakOptions(base string) leaks.Options { return leaks.Options{Off: a.rulesOff(base)} }

// guardOptions are leakOptions of what is about to be committed: secrets of the user's own stop it.
func (a *app) guardOptions(repo *gitint.Repo) leaks.Options {
	o := a.leakOptions(repo.Root())
	o.Own = secrets.OwnValues([]byte(strings.Join(a.env, "\n")))
	dirs := []string{repo.Root()}
	if root, err := a.root(); err == nil && root != repo.Root() {
		dirs = append(dirs, root)
	}
	for _, dir := range dirs {
		names, err := filepath.Glob(filepath.Join(escapeGlob(dir), ".env*"))
		if err != nil || repo.Root() == "" {
			continue
		}
		for _, name := range names {
			if isSampleFile(name) {
				continue
			}
			if data, err := regular.ReadFile(name, secrets.MaxFile); err == nil {
				o.Own = append(o.Own, secrets.OwnValues(data)...)
			}
		}
	}
	slices.Sort(o.Own)
	o.Own = slices.Compact(o.Own)
	return o
}

// isSampleFile reports whether an .env file is one that others fill in.
func isSampleFile(name string) bool {
	for _, part := range []string{"example", "sample", "template", "dist"} {
		if strings.Contains(filepath.Base(name), part) {
			return true
		}
	}
	return false
}

func escapeGlob(dir string) string {
	if os.PathSeparator != '/' {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// findSecret scans the working tree of the workspace for the finding that a fingerprint names.
func (a *app) findSecret(
	ctx context.Context, repo *gitint.Repo, w *workspace.Workspace, fingerprint string,
) (secrets.Allowed, error) {
	const least = 8
	if len(fingerprint) < least {
		return secrets.Allowed{}, fmt.Errorf("%q is shorter than %d digits", fingerprint, least)
	}
	settings, err := a.settings()
	if err != nil {
		return secrets.Allowed{}, err
	}
	src, err := check.OpenWorkTree(w.Root(), a.limits())
	if err != nil {
		return secrets.Allowed{}, err
	}
	o := a.guardOptions(repo)
	index, err := repo.Index(ctx)
	if err != nil {
		return secrets.Allowed{}, errors.Join(err, src.Close())
	}
	dir, err := a.dirInRepo(w, repo)
	var left []check.Source
	if err == nil {
		left, err = check.LeftOutOf(ctx, repo, w.Root())
	}
	if err != nil {
		return secrets.Allowed{}, errors.Join(err, src.Close())
	}
	o.Dirs, o.MaxBlobBytes = []string{workspace.DirName}, settings.Storage.MaxBlobBytes
	o.Tracked = func(name string) bool {
		_, ok := index.OID(path.Join(path.Dir(dir), name))
		return ok
	}
	s := leaks.NewScanner(o)
	err = s.Scan(ctx, check.Lazily(src, left))
	if err = errors.Join(err, src.Close()); err != nil {
		return secrets.Allowed{}, err
	}
	found, ok := s.Find(fingerprint)
	if !ok {
		return found, fmt.Errorf(
			"no finding, or several, of this workspace have the fingerprint %s", fingerprint,
		)
	}
	return found, nil
}

// allowSecret commits to findings of the workspace being no secrets.
func (a *app) allowSecret(ctx context.Context, fingerprints []string) error {
	w, err := a.workspace()
	if err != nil {
		return err
	}
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	var entries []secrets.Allowed
	for _, fp := range fingerprints {
		found, err := a.findSecret(ctx, repo, w, fp)
		if err != nil {
			return fmt.Errorf("allow secret: %w", err)
		}
		entries = append(entries, found)
	}
	return a.commitAllowed(ctx, entries)
}

// commitAllowed writes and stages the entries of findings that are no secrets.
func (a *app) commitAllowed(ctx context.Context, entries []secrets.Allowed) error {
	w, err := a.workspace()
	if err != nil {
		return err
	}
	repo, err := a.repo(ctx)
	if err != nil {
		return err
	}
	dir, err := a.dirInRepo(w, repo)
	if err != nil {
		return err
	}
	var names []string
	for _, entry := range entries {
		if err := redact.WriteEntry(w, entry.Name(), entry.Encode()); err != nil {
			return fmt.Errorf("allow secret: %w", err)
		}
		names = append(names, path.Join(dir, entry.Name()))
	}
	if _, err := repo.Stage(ctx, gitint.Change{Add: names}); err != nil {
		return fmt.Errorf("allow secret: %w", err)
	}
	for _, name := range names {
		a.note("staged %s", name)
	}
	return nil
}
