package leaks

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Options choose what is scanned, and for what.
type Options struct {
	// Dirs are the workspaces, slash paths of directories .jp.
	Dirs []string
	// Select, when not nil, limits the scan to the conversations it accepts.
	Select func(events.ID) bool
	// MaxBlobBytes is the limit of one content; 0 means the default.
	MaxBlobBytes int64
	// Off returns the rules that the user approved to be off, among those that a workspace turns
	// off. Nil means none.
	Off func(dir string, names []string) []string
	// Own are the user's own secrets, as [OwnValues] finds them: they stop a commit.
	Own []string
	// LeftOut has what a sparse checkout leaves out of a working tree that is scanned; see
	// [LeftOutOf]. It may be nil.
	LeftOut LeftOut
	// Memo has the entries that the command has read of the working tree. It may be nil.
	Memo *Memo
	// RulesMatter makes it an error that the rules of a workspace cannot be read: without them
	// secrets may go unfound.
	RulesMatter bool
	// Tracked, when not nil, reports whether Git has a file, by its path from the root of the
	// source. An attached file that it does not have is a finding.
	Tracked func(name string) bool
}

// Rules returns the rules that hold in a workspace with some committed rules.
func (o Options) Rules(dir string, c secrets.Committed) *secrets.Rules {
	rules := secrets.Builtin().With(c).With(secrets.OwnRules(o.Own))
	if len(c.Off) > 0 && o.Off != nil {
		rules = rules.Without(o.Off(dir, c.Off)...)
	}
	return rules
}

// A Scanner scans one tree after the other, and in each only what is new. It is not safe for use by
// several goroutines.
type Scanner struct {
	Options
	rules    map[string]*secrets.Scanner // by digest
	streams  map[string]bool             // with digest and object
	elements map[[sha256.Size]byte]bool
	listed   map[string]bool       // entries of earlier trees, by directory and version
	beside   *beside               // nil until Revisit needs it
	allowed  map[string]bool       // in any tree, by directory and fingerprint
	away     map[blobs.Hash]bool   // blobs that a lazy clone does not have here
	skipped  []check.Source        // the trees of Skip
	back     map[returnedText]bool // texts that were reported, or that a skipped tree had
	found    []found
}

// A found is a finding that a later tree may allow.
type found struct {
	key     string
	dir     string // .jp
	finding check.Finding
	allowed secrets.Allowed // the entry that would allow it
}

// NewScanner returns a scanner.
func NewScanner(o Options) *Scanner {
	if o.Memo == nil {
		o.Memo = NewMemo()
	}
	return &Scanner{
		Options: o, rules: map[string]*secrets.Scanner{}, streams: map[string]bool{},
		elements: map[[sha256.Size]byte]bool{}, listed: map[string]bool{},
		allowed: map[string]bool{}, away: map[blobs.Hash]bool{},
		back: map[returnedText]bool{},
	}
}

// Skip marks everything in a tree as known, so that it causes no findings. It reads no entry. A
// text that was redacted is known only if the tree also has the entry that says so.
func (s *Scanner) Skip(ctx context.Context, src check.Source) error {
	s.Know(src)
	return s.SkipMerged(ctx, src)
}

// Know is Skip for a scanner that only revisits: it reads nothing.
func (s *Scanner) Know(src check.Source) { s.skipped = append(s.skipped, src) }

// SkipMerged is Skip for a tree that a commit merges with another. What it has is committed
// already, but a text that was redacted does not come into another branch because of that.
func (s *Scanner) SkipMerged(ctx context.Context, src check.Source) error {
	for _, dir := range s.Dirs {
		list := func(name string, e check.Entry, _ func() ([]byte, error)) error {
			s.listed[dir+versionOf(name, e)] = true
			s.listed[dir+versionOf(name, check.Entry{})] = true
			return nil
		}
		if _, err := s.reader(src, dir).all(nil, list, list); err != nil {
			return err
		}
		err := s.each(ctx, src, dir, func(c conversation) error {
			if c.stream != nil {
				for _, e := range c.stream.All() {
					s.elements[c.sum(e)] = true
				}
			}
			for name, data := range c.files {
				s.elements[c.sumOf(name, data)] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Scan looks for secrets in everything that no earlier tree had.
func (s *Scanner) Scan(ctx context.Context, src check.Source) error {
	for _, dir := range s.Dirs {
		if err := s.workspace(ctx, src, dir); err != nil {
			return fmt.Errorf("look for secrets: %w", err)
		}
	}
	return nil
}

// Find returns the entry that would allow the finding whose fingerprint begins with prefix; false
// unless there is exactly one.
func (s *Scanner) Find(prefix string) (secrets.Allowed, bool) {
	var match []secrets.Allowed
	for _, f := range s.found {
		if fp := f.finding.Fingerprint; fp != "" && strings.HasPrefix(fp, prefix) &&
			!slices.Contains(match, f.allowed) {
			match = append(match, f.allowed)
		}
	}
	if len(match) != 1 {
		return secrets.Allowed{}, false
	}
	return match[0], true
}

// Report adds the findings to a report: those that no tree allows, and the exceptions that the
// trees add.
func (s *Scanner) Report(r *check.Report) {
	for _, f := range s.found {
		if !s.allowed[f.key] {
			r.Add(f.finding)
		}
	}
	if n := len(s.away); n > 0 {
		r.Add(check.Finding{
			State: check.Unchecked, Element: -1,
			Detail: fmt.Sprintf("what is missing locally was not searched for secrets"+
				" (blobs: %d)", n),
			Next: "git jp config set storage.checkout full",
		})
	}
}

// reader returns a reader of the entries of a tree.
func (s *Scanner) reader(src check.Source, dir string) *entryReader {
	left := s.LeftOut
	if src.Name() != check.WorkTreeName {
		left = nil
	}
	r := newReader(src, dir, left, s.Memo)
	r.reports = true
	return r
}

func (s *Scanner) workspace(ctx context.Context, src check.Source, dir string) error {
	r := s.reader(src, dir)
	files := map[string]func() bool{} // whether an entry allows, by fingerprint
	entries, err := r.all(r.rules, s.exceptions(r, files), s.fresh(r))
	if err != nil {
		return err
	}
	for _, p := range entries.Problems {
		if s.RulesMatter && p.Path == path.Join(dir, secrets.RulesFile) &&
			p.Next != check.Origin(p.Path) { // a later version may know what is ignored
			p.Severity = check.Error
		}
		s.found = append(s.found, found{finding: p})
	}
	redactions := s.redactionsOf(src, dir)
	scanner := s.scanner(dir, entries.Committed)
	err = s.each(ctx, src, dir, func(c conversation) error {
		c.scan, c.redactions = scanner, redactions
		return s.conversation(c)
	})
	for _, f := range s.found {
		if allows := files[f.finding.Fingerprint]; allows != nil && f.dir == dir && allows() {
			s.allowed[f.key] = true
		}
	}
	return err
}

// fresh returns a handler of redactions that reads those that no earlier tree had.
func (s *Scanner) fresh(r *entryReader) handler {
	return func(name string, e check.Entry, read func() ([]byte, error)) error {
		if s.listed[r.dir+versionOf(name, e)] {
			return nil
		}
		s.listed[r.dir+versionOf(name, e)] = true
		return r.readRedacted(name, e, read)
	}
}

// scanner returns the one for the rules of a workspace.
func (s *Scanner) scanner(dir string, c secrets.Committed) *secrets.Scanner {
	rules := s.Rules(dir, c)
	digest := rules.Digest()
	if s.rules[digest] == nil {
		s.rules[digest] = &secrets.Scanner{Rules: rules}
	}
	return s.rules[digest]
}

// exceptions returns a handler of allowed findings that lists those that no earlier tree had. The
// others are read if there is a finding with their fingerprint, which is their name: files has a
// function for each that does so.
func (s *Scanner) exceptions(r *entryReader, files map[string]func() bool) handler {
	return func(name string, e check.Entry, read func() ([]byte, error)) error {
		version := r.dir + versionOf(name, e)
		files[strings.TrimSuffix(path.Base(name), path.Ext(name))] = func() bool {
			return r.readAllowed(name, e, func() ([]byte, error) { return r.read(name) }) == nil
		}
		if s.listed[version] {
			return nil
		}
		s.listed[version] = true
		if err := r.readAllowed(name, e, read); err != nil {
			return err
		}
		a := r.memo.allowed[versionOf(name, e)]
		s.allowed[r.dir+a.Fingerprint()] = true
		s.found = append(s.found, found{finding: check.Finding{
			State: check.Allowed, Commit: r.src.Name(), Path: path.Join(r.dir, name), Element: -1,
			Conversation: "jp-c" + a.Conversation,
			Detail:       fmt.Sprintf("allows %s in event %s", a.Rule, a.Event),
		}})
		return nil
	}
}

// A conversation is one directory of a source.
type conversation struct {
	src   check.Source
	dir   string // .jp
	at    string // the directory of the conversation
	id    events.ID
	data  []byte
	files map[string][]byte
	// stream is nil if it cannot be read, which other checks report.
	stream *events.Stream
	scan   *secrets.Scanner
	// redactions reads those of the tree.
	redactions func() (secrets.Redactions, error)
}

// sum returns the hash of an element in a conversation.
func (c *conversation) sum(e *events.Element) [sha256.Size]byte { return c.sumOf("", e.Raw()) }

func (c *conversation) sumOf(name string, data []byte) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%s %s %s %x",
		c.dir, c.id.Digits(), name, sha256.Sum256(data)))
}

// each calls f with the conversations of a workspace whose stream no earlier tree had.
func (s *Scanner) each(
	ctx context.Context, src check.Source, dir string, f func(conversation) error,
) error {
	return directories(src, dir, func(id events.ID, at string, e check.Entry) error {
		if s.Select != nil && !s.Select(id) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c, ok := s.open(src, dir, at, id, e)
		if !ok {
			return nil
		}
		if err := f(c); err != nil {
			return fmt.Errorf("%s:%s: %w", src.Name(), c.at, err)
		}
		return nil
	})
}

// directories calls f with the directories of the conversations of a workspace.
func directories(
	src check.Source, dir string, f func(id events.ID, at string, e check.Entry) error,
) error {
	for _, p := range []workspace.Partition{workspace.Live, workspace.Archive} {
		place := path.Join(dir, p.Dir())
		all, err := list(src, place)
		switch {
		case check.IsRefused(src, err):
			continue // a check reports it
		case err != nil:
			return err
		}
		for _, e := range all {
			id, ok := events.ParseDirname(e.Name)
			if !ok || !isConversation(e) {
				continue
			}
			if err := f(id, path.Join(place, e.Name), e); err != nil {
				return err
			}
		}
	}
	return nil
}

// open reads the files of a conversation; false if an earlier tree had the same.
func (s *Scanner) open(
	src check.Source, dir, at string, id events.ID, tree check.Entry,
) (conversation, bool) {
	if key := keyOf(at, tree); !tree.ID.IsZero() {
		if s.streams[key] {
			return conversation{}, false
		}
		s.streams[key] = true
	}
	c := conversation{src: src, dir: dir, at: at, id: id}
	c.read()
	return c, true
}

// read reads the files of a conversation, as far as they can be read.
func (c *conversation) read() {
	c.files = map[string][]byte{}
	for _, name := range []string{workspace.MetadataFile, workspace.BaseConfigFile} {
		if data, err := c.src.ReadFile(path.Join(c.at, name)); err == nil {
			c.files[name] = data
		}
	}
	var err error
	if c.data, err = c.src.ReadFile(path.Join(c.at, workspace.EventsFile)); err != nil {
		return
	}
	if c.stream, err = events.Decode(c.data); err != nil {
		c.stream = nil
	}
}

// conversation scans the new parts of a conversation.
func (s *Scanner) conversation(c conversation) error {
	for name, data := range c.files {
		if sum := c.sumOf(name, data); !s.elements[sum] {
			s.elements[sum] = true
			for _, f := range c.scan.Document(c.id, name, data) {
				s.add(c, f, name)
			}
		}
	}
	if c.stream == nil {
		return nil
	}
	fresh := map[int]bool{}
	for i, e := range c.stream.All() {
		if sum := c.sum(e); !s.elements[sum] {
			s.elements[sum], fresh[i] = true, true
		}
	}
	if len(fresh) == 0 {
		return s.unredacted(c)
	}
	is := func(i int) bool { return fresh[i] }
	contents := s.contents(c)
	all, err := c.scan.Stream(c.id, c.stream, is, contents)
	if err != nil {
		return err
	}
	for _, f := range all {
		s.add(c, f, workspace.EventsFile)
	}
	s.attached(c, is)
	return s.unredacted(c)
}

// add records a finding in the form of a check.
func (s *Scanner) add(c conversation, f secrets.Finding, file string) {
	fp := f.Fingerprint()
	cf := c.finding(check.Secret, f.Element, file)
	cf.Rule, cf.Fingerprint, cf.Detail = f.Rule, fp, f.String()
	cf.Next = fmt.Sprintf(
		"git jp redact %s; if it is not a secret: git jp check --allow-secret %[1]s", fp)
	s.found = append(s.found, found{c.dir + fp, c.dir, cf, f.Allowed})
}

// finding returns the beginning of a finding about a conversation, of element i of its stream; -1
// for none.
func (c *conversation) finding(state check.State, i int, file string) check.Finding {
	f := check.Finding{
		State: state, Commit: c.src.Name(), Path: path.Join(c.at, file), Element: i,
		Conversation: c.id.String(),
	}
	d, err := events.DecodeDetails(c.files[workspace.MetadataFile])
	switch {
	case err != nil || d.Title == nil:
	case len(c.scan.Rules.Scan([]byte(*d.Title))) == 0:
		f.Title = *d.Title
	default:
		// The name of the directory is made from the title, so it is not printed either. The path
		// has a pattern in its place that git and the shell expand.
		f.Path = path.Join(path.Dir(c.at), c.id.Digits()+"-*", file)
	}
	if i < 0 {
		return f
	}
	e := c.stream.At(i)
	f.Turn = c.stream.TurnOf()[i] + 1
	if at := bytes.Index(c.data, e.Raw()); at >= 0 {
		f.Line = 1 + bytes.Count(c.data[:at], []byte("\n"))
	}
	switch ev := e.Event().(type) {
	case *events.ToolCallRequest:
		f.Call, f.Tool = ev.ID, ev.Name
	case *events.ToolCallResponse:
		f.Call = ev.ID
	}
	return f
}

// A reader reads the blobs of a conversation from its source.
type reader struct {
	conversation
	limits blobs.Limits
	away   map[blobs.Hash]bool // set to the blobs that a lazy clone does not have here
}

// Read implements [blobs.Reader].
func (r reader) Read(ref blobs.Ref) ([]byte, error) {
	if err := r.limits.Check(ref.Size); err != nil {
		return nil, &blobs.CorruptError{Hash: ref.Hash, Reason: "is too large", Err: err}
	}
	gz, err := r.src.ReadFile(workspace.BlobPath(r.dir, ref.Hash))
	if check.IsAway(err) {
		r.away[ref.Hash] = true
	}
	if err != nil {
		return nil, err
	}
	return blobs.Decode(gz, ref)
}
