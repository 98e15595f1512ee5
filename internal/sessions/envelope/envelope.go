package envelope

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An Envelope is a conversation in transfer from one workspace to another.
type Envelope struct {
	ID events.ID
	// Local is true if the conversation is user-local, and must not be added to a workspace.
	Local      bool
	Archived   bool
	Details    *events.Details
	BaseConfig []byte // nil if there is none
	// Stream has its contents inline, as jp writes it.
	Stream *events.Stream
	// Contents has the contents that the stream refers to where jp's format has no place for them.
	Contents map[blobs.Hash][]byte
	// Unknown has the names of its other members, sorted, which a later version may have added.
	Unknown []string
}

// Errors of envelopes that are refused.
var (
	ErrVersion = errors.New("its version is newer than this program")
	ErrTwice   = errors.New("two envelopes have the same conversation")
)

// Values of the member projection.
const (
	local     = "local"
	projected = "projected"
)

// wire is a line. Archived and contents are extensions; other programs ignore unknown members.
type wire struct {
	ID         string            `json:"id"`
	Version    jsontext.Value    `json:"version,omitzero"`
	Projection string            `json:"projection"`
	Archived   bool              `json:"git_jp_archived,omitzero"`
	Metadata   jsontext.Value    `json:"metadata"`
	BaseConfig jsontext.Value    `json:"base_config,omitzero"`
	Events     jsontext.Value    `json:"events"`
	Contents   map[string]string `json:"git_jp_contents,omitempty"` // by hash, in Base64

	Unknown map[string]jsontext.Value `json:",embed"`
}

// Write writes a conversation as a line. It reads the contents through r, and puts them into a copy
// of the stream.
func Write(w io.Writer, e *Envelope, r blobs.Reader) error {
	line, err := encode(e, r)
	if err != nil {
		return fmt.Errorf("write the envelope of %s: %w", e.ID, err)
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

func encode(e *Envelope, r blobs.Reader) ([]byte, error) {
	stream := e.Stream.Clone()
	if _, err := stream.Inline(r); err != nil {
		return nil, err
	}
	out := wire{
		ID: e.ID.String(), Projection: projected, Archived: e.Archived,
		Metadata: e.Details.Encode(), BaseConfig: e.BaseConfig, Events: stream.Encode(),
		Contents: map[string]string{},
	}
	if e.Local {
		out.Projection = local
	}
	left, err := events.References(out.Events)
	if err != nil {
		return nil, err
	}
	for _, at := range left {
		if !at.Counts() {
			continue
		}
		content, err := r.Read(at.Ref)
		if err != nil {
			return nil, err
		}
		out.Contents[at.Ref.Hash.String()] = base64.StdEncoding.EncodeToString(content)
	}
	for _, v := range []*jsontext.Value{&out.Metadata, &out.BaseConfig, &out.Events} {
		if *v = slices.Clone(*v); len(*v) == 0 {
			continue
		}
		if err := v.Compact(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(out, json.Deterministic(true), jsontext.AllowDuplicateNames(true))
}

// Read returns the envelopes of r, all of which are valid. An error names the line.
func Read(r io.Reader) ([]*Envelope, error) {
	lines, err := sessions.NewLines(r, 0)
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	var all []*Envelope
	seen := map[events.ID]bool{}
	for {
		line, number, err := lines.Next(func([]byte) bool { return true })
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		case len(line) == 0:
			continue
		}
		e, err := decode(line)
		if err == nil && seen[e.ID] {
			err = fmt.Errorf("%w: %s", ErrTwice, e.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("read the envelope in line %d: %w", number, err)
		}
		seen[e.ID] = true
		all = append(all, e)
	}
}

func decode(line []byte) (*Envelope, error) {
	var in wire
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, sessions.InWords(err)
	}
	if in.Version != nil && string(in.Version) != "1" {
		return nil, fmt.Errorf("%w: %s", ErrVersion, in.Version)
	}
	id, err := events.ParseID(in.ID)
	if err == nil && (id <= 0 || in.ID != id.String() && in.ID != id.Digits()) {
		err = fmt.Errorf("%q is not an id", in.ID)
	}
	if err != nil {
		return nil, err
	}
	e := &Envelope{
		ID: id, Local: in.Projection == local, Archived: in.Archived,
		Unknown: slices.Sorted(maps.Keys(in.Unknown)),
	}
	if !e.Local && in.Projection != projected {
		return nil, fmt.Errorf("projection is %q, neither local nor projected", in.Projection)
	}
	if in.Metadata.Kind() != '{' || in.Events.Kind() != '[' {
		return nil, errors.New("metadata is not an object, or events is not a list")
	}
	if e.Details, err = events.DecodeDetails(asFile(in.Metadata)); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	switch in.BaseConfig.Kind() {
	case '{':
		e.BaseConfig = asFile(in.BaseConfig)
	case 0, 'n':
	default:
		return nil, errors.New("base_config is not an object")
	}
	if e.Stream, err = events.Decode(asFile(in.Events)); err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	if err := e.loadable(); err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	if session := e.Details.Labels[events.LabelSession]; session != "" {
		ids := events.SessionIDs(session)
		if !slices.Contains(ids[:], id) {
			return nil, fmt.Errorf("the label %s belongs to a conversation with another id",
				events.LabelSession)
		}
	}
	return e, e.contents(in.Contents)
}

// loadable returns an error if jp cannot load the stream.
func (e *Envelope) loadable() error {
	if err := e.Stream.Validate(); err != nil {
		return err
	}
	for i, element := range e.Stream.All() {
		if err := element.Loadable(); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		var must struct {
			Timestamp jsontext.Value `json:"timestamp"`
			Type      jsontext.Value `json:"type"`
		}
		err := json.Unmarshal(element.Raw(), &must, jsontext.AllowDuplicateNames(true))
		if err == nil && (must.Timestamp == nil || must.Type == nil) {
			err = errNoMember
		}
		if err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

// errNoMember reports a missing member that jp requires of an import, which is stricter than
// loading.
var errNoMember = errors.New("it has no timestamp or no type")

// contents sets the carried contents. It verifies the hash of each, and that nothing that the
// stream refers to is missing.
func (e *Envelope) contents(carried map[string]string) error {
	e.Contents = map[blobs.Hash][]byte{}
	for name, text := range carried {
		h, err := blobs.ParseHash(name)
		if err != nil {
			return err
		}
		content, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return fmt.Errorf("content %s: %w", name, err)
		}
		if blobs.RefTo(content).Hash != h {
			return fmt.Errorf("content %s does not match its checksum", name)
		}
		e.Contents[h] = content
	}
	refs, err := events.References(e.Stream.Encode())
	if err != nil {
		return err
	}
	for _, at := range refs {
		if _, ok := e.Contents[at.Ref.Hash]; at.Counts() && !ok {
			return fmt.Errorf("content %s is not in it", at.Ref.Hash)
		}
	}
	return nil
}

// asFile formats a value as the files of a conversation are written.
func asFile(v jsontext.Value) []byte {
	v = slices.Clone(v)
	if v.Indent(jsontext.WithIndent("  ")) != nil {
		return v // the reader of the value reports the error
	}
	return append(v, '\n')
}
