package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/tool/command"
)

// A Kind is the effect of a value.
type Kind string

// The kinds of claims.
const (
	Process Kind = "process" // starts a process
	Host    Kind = "host"    // chooses a host
	EnvVar  Kind = "env"     // names an environment variable to read
	Path    Kind = "path"    // reaches outside the workspace

	Provider Kind = "provider" // is sent conversations
	Setting  Kind = "setting"  // is harmless only if the user sets it
)

// does describes a kind.
func (k Kind) does() string {
	switch k {
	case Process:
		return "starts a process"
	case Host:
		return "chooses a host"
	case EnvVar:
		return "reads an environment variable"
	case Path:
		return "reaches out of the workspace"
	case Provider:
		return "is sent conversations of this workspace"
	case Setting:
		return "is set by another person"
	default:
		return "wants " + quoted(string(k))
	}
}

// A Claim is the effect that a foreign value would have.
type Claim struct {
	Kind   Kind
	Key    string // the dotted setting
	Value  string // exactly the value that would be used
	Origin string // its location, for messages; not part of the approval
}

// A Workspace is where an approval applies. Both fields are needed: the id is a file of the
// repository, which another repository may copy.
type Workspace struct {
	ID   string // of the workspace
	Root string // absolute path of its root
}

// sum returns the hash that an approval is bound to.
func (c Claim) sum(w Workspace) string {
	// JSON separates the parts, whatever they contain.
	b, err := json.Marshal([]string{"1", string(c.Kind), c.Key, c.Value, w.ID, w.Root})
	if err != nil {
		return strings.Repeat("0", hex.EncodedLen(sha256.Size)) // strings always marshal
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// String describes the claim, without characters that a terminal interprets.
func (c Claim) String() string { return c.place() + " " + c.Kind.does() }

// place returns the key with its location.
func (c Claim) place() string {
	if c.Origin == "" {
		return show(c.Key)
	}
	return show(c.Key) + " (" + show(c.Origin) + ")"
}

// Shown returns the key and the value, without characters that a terminal interprets.
func (c Claim) Shown() string { return show(c.Key) + " " + c.brief() }

// bound returns the command and the files of a claim that covers files.
func (c Claim) bound() (line string, files map[string]string, ok bool) {
	var v struct {
		Command json.RawMessage   `json:"command"`
		Files   map[string]string `json:"files"`
	}
	if c.Kind != Process || exact.Unmarshal([]byte(c.Value), &v) != nil || v.Files == nil {
		return "", nil, false
	}
	line = string(v.Command)
	_ = exact.Unmarshal(v.Command, &line) // otherwise JSON
	return line, v.Files, true
}

// Unbound replaces the hash of a file that an approval could not cover. No file has this hash.
const Unbound = "unreadable"

// files returns the files that the command of a claim runs, with their hashes.
func (c Claim) files() map[string]string {
	_, files, _ := c.bound()
	return files
}

func (c Claim) runsFiles() bool { return len(c.files()) > 0 }

// line returns the words of the command of a claim, and whether a shell reads them.
func (c Claim) line() (words []string, shell bool) {
	if t, ok := c.tool(); ok {
		return t.Line, t.Shell
	}
	var s struct {
		Command   json.RawMessage `json:"command"`
		Arguments []string        `json:"arguments"`
	}
	line := c.text()
	if exact.Unmarshal([]byte(c.Value), &s) == nil && exact.Unmarshal(s.Command, &line) != nil {
		line = string(s.Command)
	}
	words, err := command.Words(line)
	if c.Kind != Process || err != nil {
		return nil, false
	}
	return append(words, s.Arguments...), false
}

// unbound returns the files that an approval of the claim would not cover. Such a claim is never
// approved: the files could change without a question.
func (c Claim) unbound() (names []string) {
	files := c.files()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if files[name] == Unbound {
			names = append(names, show(name))
		}
	}
	return names
}

// shown returns the lines that show the value in a question.
func (c Claim) shown() string {
	if line, files, ok := c.bound(); ok {
		return fmt.Sprintf("  %s\n  %s\n", quoted(line), runsFiles(files))
	}
	return fmt.Sprintf("  %s\n", quoted(c.text()))
}

// brief returns the value for an error; for a command, the command only.
func (c Claim) brief() string {
	if line, _, ok := c.bound(); ok && !strings.HasPrefix(c.Key, ToolKeys) {
		return excerpt(line)
	}
	if t, ok := c.tool(); ok && len(t.Line) > 0 {
		return excerpt(strings.Join(t.Line, " "))
	}
	return excerpt(c.text())
}

// text returns the value as written: a string without JSON quotes.
func (c Claim) text() string {
	var text string
	if exact.Unmarshal([]byte(c.Value), &text) != nil {
		return c.Value
	}
	return text
}

// quoted escapes s for a terminal, in quotes, with all that a person would not see.
func quoted(s string) string { return render.Exact(strconv.Quote(s)) }

// show escapes s for a terminal, without quotes if nothing is escaped.
func show(s string) string {
	if q := quoted(s); q != `"`+s+`"` {
		return q
	}
	return s
}

// A Gate decides about claims. A refusal is a [*RefusedError].
type Gate interface {
	Allow(c Claim) error
}

// A Guarded is a value that may be foreign. The zero value is the zero T, and not foreign.
type Guarded[T any] struct {
	value   T
	claim   Claim
	foreign bool
	again   func() Claim // nil if the claim never changes
}

// Own returns a value without a guard: the user's own, or a built-in one.
func Own[T any](v T) Guarded[T] { return Guarded[T]{value: v} }

// Foreign returns a guarded value that somebody else may have written.
func Foreign[T any](v T, c Claim) Guarded[T] {
	return Guarded[T]{value: v, claim: c, foreign: true}
}

// Renewed returns the value with a function that returns its claim as it is when the value is
// opened. The function must be safe for concurrent use.
func (g Guarded[T]) Renewed(claim func() Claim) Guarded[T] {
	g.again = claim
	return g
}

// Open returns the value if it is the user's own or the gate allows its claim.
func (g Guarded[T]) Open(gate Gate) (T, error) {
	if err := g.allowed(gate); err != nil {
		var none T
		return none, err
	}
	return g.value, nil
}

// allowed returns nil if the gate allows the claim as it is now. An answer of the user takes its
// time, in which the files of a claim may change: then it is asked about again.
func (g Guarded[T]) allowed(gate Gate) error {
	switch {
	case !g.foreign:
		return nil
	case g.again == nil:
		return gate.Allow(g.claim)
	}
	for asked := (Claim{}); ; {
		now := g.again()
		if now == asked || WithoutAsking(gate).Allow(now) == nil {
			return nil
		}
		if err := gate.Allow(now); err != nil {
			return err
		}
		asked = now
	}
}

// Claim returns the claim that must be approved, false if there is none.
func (g Guarded[T]) Claim() (Claim, bool) { return g.claim, g.foreign }

// A RefusedError says that a claim is not approved.
type RefusedError struct {
	Claim    Claim
	ID       string // as returned by [Approvals.ID]
	Declined bool   // the user was asked and said no
	Why      error  // why it cannot be approved, nil if it can
}

// Error names the claim and the approval that it needs.
func (e *RefusedError) Error() string {
	if names := e.Claim.unbound(); names != nil {
		return fmt.Sprintf("%s: %s: %v: %s", e.Claim, e.Claim.brief(), ErrUnbound,
			strings.Join(names, ", "))
	}
	verdict := "not approved"
	switch {
	case e.Why != nil:
		return fmt.Sprintf("%s: %s: %s: %v", e.Claim, e.Claim.brief(), verdict, e.Why)
	case e.Declined:
		verdict = "declined"
	}
	return fmt.Sprintf("%s: %s: %s (approve with '%s')",
		e.Claim, e.Claim.brief(), verdict, e.Approval())
}

// ErrUnbound is the error for a claim that nobody can approve.
var ErrUnbound = errors.New("cannot be approved, since it runs files that cannot be read")

// Unwrap returns why nobody can approve the claim, [ErrUnbound] if its files are the reason.
func (e *RefusedError) Unwrap() error {
	if e.Claim.unbound() != nil {
		return ErrUnbound
	}
	return e.Why
}

// Approval returns the command that approves the claim. Since users copy it, it leaves out a key
// that a shell would not read as one word.
func (e *RefusedError) Approval() string {
	const command = "git jp trust"
	plain := func(r rune) bool {
		return strings.ContainsRune("._-", r) || '0' <= r && r <= '9' ||
			'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	key := e.Claim.Key
	if key == "" || strings.IndexFunc(key, func(r rune) bool { return !plain(r) }) >= 0 ||
		key[0] == '-' {
		return command
	}
	return command + " " + key
}

// excerpt shortens a value for an error.
func excerpt(value string) string {
	const most = 200
	if runes := []rune(value); len(runes) > most {
		return quoted(string(runes[:most])) + "…"
	}
	return quoted(value)
}
