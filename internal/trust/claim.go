package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A Kind says what a value would do.
type Kind string

// The kinds of claims.
const (
	Process Kind = "process" // starts a process
	Host    Kind = "host"    // chooses a host
	EnvVar  Kind = "env"     // names an environment variable to be read
	Path    Kind = "path"    // reaches out of the workspace

	Provider Kind = "provider" // is who conversations are sent to
	Setting  Kind = "setting"  // changes what is harmless only as the user's own
)

// does tells a kind in words.
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
		return "is set by somebody else"
	default:
		return "wants " + strconv.QuoteToGraphic(string(k))
	}
}

// A Claim is what somebody else's value wants to do.
type Claim struct {
	Kind   Kind
	Key    string // the setting, dotted
	Value  string // exactly what would be used
	Origin string // where it was said, for people; no part of the approval
}

// A Workspace is where an approval holds. Both fields are needed: an id is a file of
// the repository, which another repository may copy.
type Workspace struct {
	ID   string // of the workspace
	Root string // absolute path of what the user regards as one place
}

// sum returns the hash that an approval is bound to.
func (c Claim) sum(w Workspace) string {
	// A JSON array keeps the parts apart whatever is in them.
	b, err := json.Marshal([]string{"1", string(c.Kind), c.Key, c.Value, w.ID, w.Root})
	if err != nil {
		return strings.Repeat("0", hex.EncodedLen(sha256.Size)) // strings always marshal
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// String tells the claim for people, with nothing in it that a terminal would obey.
func (c Claim) String() string { return c.place() + " " + c.Kind.does() }

// place is the key, with where it was said.
func (c Claim) place() string {
	if c.Origin == "" {
		return show(c.Key)
	}
	return show(c.Key) + " (" + show(c.Origin) + ")"
}

// Shown returns the key and the value, as a terminal may have them.
func (c Claim) Shown() string { return show(c.Key) + " " + c.brief() }

// bound returns the command of a claim that is bound to files, and these.
func (c Claim) bound() (line string, files map[string]string, ok bool) {
	var v struct {
		Command json.RawMessage   `json:"command"`
		Files   map[string]string `json:"files"`
	}
	if c.Kind != Process || json.Unmarshal([]byte(c.Value), &v) != nil || v.Files == nil {
		return "", nil, false
	}
	line = string(v.Command)
	_ = json.Unmarshal(v.Command, &line) // what is no text is JSON
	return line, v.Files, true
}

// shown is the value in a question, in lines.
func (c Claim) shown() string {
	if line, files, ok := c.bound(); ok {
		return fmt.Sprintf("  %s\n  %s\n", quoted(line), runsFiles(files))
	}
	return fmt.Sprintf("  %s\n", quoted(c.text()))
}

// brief is the value in an error: of what runs a command, the command.
func (c Claim) brief() string {
	if line, _, ok := c.bound(); ok && !strings.HasPrefix(c.Key, ToolKeys) {
		return excerpt(line)
	}
	if t, ok := c.tool(); ok && len(t.Line) > 0 {
		return excerpt(strings.Join(t.Line, " "))
	}
	return excerpt(c.text())
}

// text is the value as a person wrote it: a string without the quotes of JSON.
func (c Claim) text() string {
	var text string
	if json.Unmarshal([]byte(c.Value), &text) != nil {
		return c.Value
	}
	return text
}

// quoted makes s fit for a terminal, in quotes.
func quoted(s string) string { return strconv.QuoteToGraphic(s) }

// show makes s fit for a terminal, bare where it is harmless.
func show(s string) string {
	if q := strconv.QuoteToGraphic(s); q != `"`+s+`"` {
		return q
	}
	return s
}

// A Gate decides about claims. The error of a refusal is a [*RefusedError].
type Gate interface {
	Allow(c Claim) error
}

// A Guarded is a value that may be somebody else's. The zero value is the zero T, and
// nobody else's.
type Guarded[T any] struct {
	value   T
	claim   Claim
	foreign bool
}

// Own guards nothing: the value is the user's own, or built in.
func Own[T any](v T) Guarded[T] { return Guarded[T]{value: v} }

// Foreign guards a value that somebody else may have written.
func Foreign[T any](v T, c Claim) Guarded[T] {
	return Guarded[T]{value: v, claim: c, foreign: true}
}

// Open returns the value when it is the user's own or the gate allows its claim.
func (g Guarded[T]) Open(gate Gate) (T, error) {
	if g.foreign {
		if err := gate.Allow(g.claim); err != nil {
			var none T
			return none, err
		}
	}
	return g.value, nil
}

// Claim returns what has to be approved, false when nothing has to.
func (g Guarded[T]) Claim() (Claim, bool) { return g.claim, g.foreign }

// A RefusedError says that a claim is not approved.
type RefusedError struct {
	Claim    Claim
	ID       string // of the claim, as [Approvals.ID] has it
	Declined bool   // the user was asked and said no
}

// Error names the claim and the approval that it needs.
func (e *RefusedError) Error() string {
	verdict := "not approved"
	if e.Declined {
		verdict = "declined"
	}
	return fmt.Sprintf("%s: %s: %s (approve with '%s')",
		e.Claim, e.Claim.brief(), verdict, e.Approval())
}

// Approval returns the command that approves the claim. A key that a shell would read
// as more than a word is left out: people copy such lines.
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

// excerpt shows a value in an error.
func excerpt(value string) string {
	const most = 200
	if runes := []rune(value); len(runes) > most {
		return strconv.QuoteToGraphic(string(runes[:most])) + "…"
	}
	return strconv.QuoteToGraphic(value)
}
