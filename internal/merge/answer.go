package merge

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// An Answer is a person's decision about a conflict. The texts are part of the JSON format.
type Answer string

// The answers.
const (
	Ours   Answer = "ours"
	Theirs Answer = "theirs"
	Both   Answer = "both"   // theirs after ours, as a turn of its own
	Fork   Answer = "fork"   // ours; their side becomes a conversation of its own
	Edited Answer = "edited" // what the person wrote
)

// A Decision is an answer, together with the turn that the person wrote if the answer is [Edited].
type Decision struct {
	Answer Answer
	Turn   []*events.Element
}

// Apply returns the stream with a conflict decided.
func (d Decision) Apply(s *events.Stream, c threeway.Conflict) (*events.Stream, error) {
	switch d.Answer {
	case Ours, Fork:
		return threeway.Resolve(s, c, threeway.ChooseOurs)
	case Theirs:
		return threeway.Resolve(s, c, threeway.ChooseTheirs)
	case Both:
		return threeway.Resolve(s, c, threeway.ChooseBoth)
	case Edited:
		c.Theirs = d.Turn
		return threeway.Resolve(s, c, threeway.ChooseTheirs)
	default:
		return nil, fmt.Errorf("resolve %s: unknown answer %q", c.Turn, d.Answer)
	}
}

// Answers stores decisions for all worktrees of a repository. The answers of a merge that is not
// complete are its progress, so it can be resolved in several steps. Those of a complete merge are
// reused if the same conflict occurs again, for example after git reset.
//
// A turn that a person wrote may refer to content. The sides of the merge keep that content while
// the merge is open, and its commit keeps it afterwards.
type Answers struct {
	Dir string // the state of git jp, [gitint.Repo.Dir]
	Now func() time.Time
}

const (
	answersDir = "answers"
	// answersKept is how long git keeps resolutions that rerere recorded, by default.
	answersKept = 60 * 24 * time.Hour
)

// answerFile is an answer on disk.
type answerFile struct {
	Answer Answer `json:"answer"`
	// Ours is the hash of the side that was ours when the answer was given.
	Ours string `json:"ours"`
	// Open names the merge as long as it is not complete.
	Open string `json:"open,omitempty"`
	Turn []byte `json:"turn,omitempty"`
}

// Find returns the decision about a conflict. It is open if it belongs to the given merge and that
// is not complete. If ours and theirs have changed places, so does the answer.
func (as Answers) Find(c threeway.Conflict, merge string) (d Decision, open, ok bool, err error) {
	name, ours, theirs := answerName(c)
	data, err := regular.ReadFile(filepath.Join(as.Dir, name), regular.MaxOwn)
	if errors.Is(err, fs.ErrNotExist) {
		return d, false, false, nil
	}
	var f answerFile
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err == nil && !f.Answer.known() {
		return d, false, false, nil // of a later version: the question is asked here
	}
	if err == nil && f.Turn != nil {
		var s *events.Stream
		if s, err = events.Decode(f.Turn); err == nil {
			for _, e := range s.All() {
				d.Turn = append(d.Turn, e)
			}
		}
	}
	if err != nil {
		return d, false, false, fmt.Errorf("read the answer to %s: %w", c.Turn, err)
	}
	open = f.Open == merge && merge != ""
	d.Answer = f.Answer
	if f.Ours == theirs && ours != theirs {
		d.Answer = f.Answer.swapped()
	}
	// A fork creates a conversation, so it is not repeated in another merge.
	return d, open, open || d.Answer != Fork, nil
}

func (a Answer) known() bool {
	return slices.Contains([]Answer{Ours, Theirs, Both, Fork, Edited}, a)
}

func (a Answer) swapped() Answer {
	switch a {
	case Ours:
		return Theirs
	case Theirs:
		return Ours
	default:
		return a
	}
}

// Save stores a decision. merge names the open merge, or is "" if the decision is final.
func (as Answers) Save(c threeway.Conflict, d Decision, merge string) error {
	name, ours, _ := answerName(c)
	f := answerFile{Answer: d.Answer, Ours: ours, Open: merge}
	if d.Answer == Edited {
		f.Turn = events.New(d.Turn...).Encode()
	}
	data, err := json.Marshal(f)
	if err == nil {
		err = as.write(name, data)
	}
	if err != nil {
		return fmt.Errorf("remember the answer to %s: %w", c.Turn, err)
	}
	return nil
}

func (as Answers) write(name string, data []byte) error {
	if err := atomicfile.MkdirPrivate(as.Dir); err != nil {
		return err
	}
	return atomicfile.WriteIn(as.Dir, name, append(data, '\n'),
		atomicfile.Options{TempDir: answersDir + "/.tmp", Private: true})
}

// Forget removes a decision.
func (as Answers) Forget(c threeway.Conflict) error {
	name, _, _ := answerName(c)
	err := os.Remove(filepath.Join(as.Dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the answer to %s: %w", c.Turn, err)
	}
	return nil
}

// Expire removes answers that were neither given nor used for as long as git keeps its own.
func (as Answers) Expire() error {
	dir := filepath.Join(as.Dir, answersDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		info, infoErr := e.Info()
		if infoErr != nil || !info.Mode().IsRegular() ||
			as.Now().Sub(info.ModTime()) < answersKept {
			continue
		}
		err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
	}
	if err != nil {
		return fmt.Errorf("expire answers: %w", err)
	}
	return nil
}

// answerName returns the file name of a conflict's answer, which does not depend on which side is
// ours, and the hashes of both sides.
func answerName(c threeway.Conflict) (name, ours, theirs string) {
	base, ours, theirs := sumOf(c.Base), sumOf(c.Ours), sumOf(c.Theirs)
	sides := []string{ours, theirs}
	slices.SortFunc(sides, cmp.Compare)
	all := sha256.Sum256([]byte(c.Turn + "\n" + base + "\n" + sides[0] + "\n" + sides[1]))
	return answersDir + "/" + hex.EncodeToString(all[:16]) + ".json", ours, theirs
}

func sumOf(elements []*events.Element) string {
	h := sha256.New()
	for _, e := range elements {
		sum := e.Sum()
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
