package leaks

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Policy has the user's decisions about secrets.
type Policy struct {
	// Approved returns a function that reports whether the user approved a claim of the workspace
	// at root.
	Approved func(root string) func(trust.Claim) bool
	Env      []string // as os.Environ returns it
}

// rulesOffKey is the key of a workspace's claim to turn a rule off.
const rulesOffKey = "secrets.off"

func ruleOffClaim(dir, name string) trust.Claim {
	return trust.Claim{
		Kind: trust.Setting, Key: rulesOffKey, Value: name,
		Origin: path.Join(dir, secrets.RulesFile),
	}
}

// Claims returns the claims of a workspace to turn rules off.
func Claims(w *workspace.Workspace) (claims []trust.Claim) {
	data, err := ReadFile(w, secrets.RulesFile)
	if err != nil {
		return nil
	}
	committed, err := secrets.ParseRules(data)
	if err != nil {
		return nil // a check reports the error
	}
	for _, name := range committed.Off {
		claims = append(claims, ruleOffClaim(workspace.DirName, name))
	}
	return claims
}

// Off returns a function that selects the rules that a workspace turns off with the user's
// approval. The directory .jp is below base.
func (p Policy) Off(base string) func(dir string, names []string) []string {
	return func(dir string, names []string) []string {
		approved := p.Approved(filepath.Dir(filepath.Join(base, filepath.FromSlash(dir))))
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return !approved(ruleOffClaim(dir, name))
		})
	}
}

// Options returns the findings that the user approved, in directories .jp below base.
func (p Policy) Options(base string) Options { return Options{Off: p.Off(base)} }

// Guard is [Policy.Options] for a commit to the repository at root: the user's own secrets stop it,
// including those in .env files of the directories.
func (p Policy) Guard(root string, dirs ...string) Options {
	o := p.Options(root)
	o.Own = secrets.OwnValues([]byte(strings.Join(p.Env, "\n")))
	for _, dir := range dirs {
		names, err := regular.Glob(dir, ".env*")
		if err != nil {
			continue
		}
		for _, name := range names {
			if isSample(name) {
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

// isSample reports whether an .env file is a template.
func isSample(name string) bool {
	for _, part := range []string{"example", "sample", "template", "dist"} {
		if strings.Contains(filepath.Base(name), part) {
			return true
		}
	}
	return false
}
