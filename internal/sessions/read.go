package sessions

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/go-json-experiment/json/jsontext"
)

// ReadLines calls tell with the lines of a file that are not empty, and returns how much of the
// file was read: until bytes, or all complete lines if until is 0. It reports a line that is too
// long or no JSON to b, and refuses a file with more lines than records may be in memory. A record
// that has a member twice is kept as it is, too: only the last of them is told. A line is there
// during the call.
func ReadLines(
	ctx context.Context, path string, until int64, b *Builder,
	tell func(number int, line []byte),
) (Version, error) {
	f, err := regular.OpenFile(path)
	if err != nil {
		return Version{}, err
	}
	defer f.Close() //nolint:errcheck // only read
	lines, err := NewLines(f, until)
	if err != nil {
		return Version{}, err
	}
	defer lines.Close()
	for ctx.Err() == nil && b.Err() == nil {
		line, number, err := lines.Record()
		broken, isBroken := errors.AsType[*LineError](err)
		switch {
		case errors.Is(err, io.EOF):
			return lines.Version(), nil
		case isBroken:
			b.Broken(broken.Number, broken.Err)
		case err != nil:
			return Version{}, err
		case number > maxKeys:
			b.Fail(ErrManyKeys)
		case len(line) > 0:
			b.reach(number)
			if jsonspan.IsUsual(line) {
				tell(number, line)
			} else {
				tellUnusual(b, number, line, tell)
			}
		}
	}
	return lines.Version(), errors.Join(ctx.Err(), b.Err())
}

func tellUnusual(b *Builder, number int, line []byte, tell func(number int, line []byte)) {
	if err := Unmarshal(line, new(jsontext.Value)); err != nil {
		b.Broken(number, err)
		return
	}
	tell(number, line)
	if hasTwice(line) {
		b.Record(time.Time{}, "members twice", line)
	}
}

// ErrNoObject reports a line that is no record.
var ErrNoObject = errors.New("it is not a JSON object")

// hasTwice reports whether an object in a JSON text has two members of one name.
func hasTwice(text []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowInvalidUTF8(true))
	for {
		if _, err := dec.ReadToken(); err != nil {
			return errors.Is(err, jsontext.ErrDuplicateName)
		}
	}
}

// glance is how much of a file is read to recognize it. A line that begins within it is read to its
// end: a first prompt may have an image.
const glance = 1 << 20

// Glance calls look with the first lines of a file as long as it wants more, and returns the file's
// info.
func Glance(path string, look func(line []byte) (more bool)) (fs.FileInfo, error) {
	f, err := regular.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	lines, err := NewLines(f, glance+MaxLine)
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	for more := true; more && lines.length < glance; {
		line, _, err := lines.Record()
		_, isBroken := errors.AsType[*LineError](err)
		switch {
		case isBroken:
		case errors.Is(err, io.EOF):
			return info, nil
		case err != nil:
			return nil, err
		case len(line) > 0:
			more = look(line)
		}
	}
	return info, nil
}
