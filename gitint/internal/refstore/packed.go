package refstore

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/gitfile"
	"github.com/git-jp/git-jp/gitint/internal/object"
)

// packedRefsName is the file of packed refs.
const packedRefsName = "packed-refs"

// readPacked adds the refs of packed-refs that are not loose. An invalid line is an error: the file
// was truncated, and refs are lost. So is a file without any line: git writes a header even if no
// ref is left.
func (f Files) readPacked(set *refSet) error {
	data, err := gitfile.Read(filepath.Join(f.CommonDir, packedRefsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(data) == 0 {
		set.broken[packedRefsName] = "it is empty, without git's first line"
	}
	p := packedRefs{idDigits: 2 * f.IDSize}
	for line := range strings.Lines(string(data)) {
		if err := p.line(line); err != nil {
			return err
		}
	}
	for _, ref := range p.refs {
		if !set.has(ref.Name) {
			set.direct[ref.Name] = ref
		}
	}
	return nil
}

// packedRefs is a parsed packed-refs file.
type packedRefs struct {
	idDigits int
	// fullyPeeled is true if a ref without a peeled line is no tag.
	fullyPeeled bool
	refs        []Ref
}

func (p *packedRefs) line(line string) error {
	text, whole := strings.CutSuffix(line, "\n")
	switch {
	case !whole:
		return fmt.Errorf("packed-refs ends within %q", line)
	case strings.HasPrefix(text, "#"):
		p.header(text)
		return nil
	case strings.HasPrefix(text, "^") && len(p.refs) > 0:
		id, err := p.id(text[1:])
		p.refs[len(p.refs)-1].Peeled = id
		return err
	}
	digits, name, ok := strings.Cut(text, " ")
	id, err := p.id(digits)
	if err != nil {
		return err
	}
	if !ok || !validRefName(name) {
		return fmt.Errorf("packed-refs has the line %q", line)
	}
	ref := Ref{Name: name, OID: id}
	if p.fullyPeeled {
		ref.Peeled = id
	}
	p.refs = append(p.refs, ref)
	return nil
}

func (p *packedRefs) header(text string) {
	if traits, ok := strings.CutPrefix(text, "# pack-refs with:"); ok {
		p.fullyPeeled = slices.Contains(strings.Fields(traits), "fully-peeled")
	}
}

func (p *packedRefs) id(digits string) (object.ID, error) {
	id, err := object.ParseID(digits)
	if err != nil || len(digits) != p.idDigits || id.IsZero() {
		return object.ID{}, fmt.Errorf("packed-refs has the object id %q", digits)
	}
	return id, nil
}

// validRefName is git check-ref-format: git does not list other names either.
func validRefName(name string) bool {
	if name == "" || strings.HasSuffix(name, ".") || strings.Contains(name, "..") ||
		strings.Contains(name, "@{") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(c rune) bool {
		return c < ' ' || c == 0x7f || strings.ContainsRune(" ~^:?*[\\", c)
	})
}
