package site

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/blame"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Files of a folder beside its pages.
const (
	manifestName = "git-jp-site.json"
	indexName    = "index.html"
	tempName     = ".git-jp-site"
)

// ErrForeign is the reason for refusing a folder that has files and no manifest.
var ErrForeign = errors.New("it has files that do not belong to a site")

// An Entry is a conversation of the site.
type Entry struct {
	ID      events.ID
	Session string // the agent's session that it was imported from, "" for none
	Load    func() (*workspace.Conversation, view.Conversation, error)
}

// Options choose how a site is made.
type Options struct {
	Title   string
	Version string // of the program: another one writes all pages again
	Page    view.Document
	Problem func(error) // errors are reported, and the rest is written
	// Authors are the people who first committed conversations, as far as that is known.
	Authors map[events.ID]string
	// History has the commits behind them; nil for no pages of commits.
	History *History
	// Files are published with the turns behind their lines; nil for none.
	Files *Files
}

// A Report counts pages.
type Report struct {
	Written, Kept, Removed int
	Files                  int // that are published
}

// A manifest lists the content of a folder.
type manifest struct {
	Version string           `json:"version"`
	Next    int              `json:"next"` // number of the next conversation in the search index
	Pages   map[string]entry `json:"pages"`
	Commits map[string]added `json:"commits,omitempty"`
	Files   map[string]file  `json:"files,omitempty"` // by their paths
	// Sums are the checksums of the bytes that were written, by file name; "" for a file that a run
	// was about to write, and perhaps did.
	Sums map[string]string `json:"sums,omitempty"`
}

type entry struct {
	Digest  string       `json:"digest"` // of everything that the page depends on
	Summary view.Summary `json:"summary"`
	Rest    bool         `json:"rest,omitempty"` // it has a page beside it
}

// A build makes one site.
type build struct {
	Options

	root   *os.Root
	was    manifest
	is     manifest
	index  *index
	pages  map[string]string      // of sessions and conversations
	left   map[string]left        // by the session that it is
	turns  map[string]view.Origin // of all conversations, by permalink; none without a history
	finder *blame.Finder          // of turns, nil without files
	report Report

	moreFiles int // that were not looked at: there are too many
}

// Build writes the pages of conversations into a folder: those that changed, and the list. Pages of
// other conversations in the folder are removed.
func Build(ctx context.Context, dir string, all []Entry, o Options) (Report, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil { // a folder to be published
		return Report{}, fmt.Errorf("make %s: %w", dir, err)
	}
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return Report{}, fmt.Errorf("open %s: %w", dir, err)
	}
	b := &build{
		Options: o, root: root,
		pages: make(map[string]string), left: make(map[string]left),
		turns: make(map[string]view.Origin),
	}
	for _, e := range all {
		b.pages[e.ID.String()] = pageName(e.ID)
		if e.Session != "" {
			b.pages[e.Session] = pageName(e.ID)
		}
	}
	err = b.run(ctx, all)
	return b.report, errors.Join(err, root.RemoveAll(tempName), root.Close())
}

func pageName(id events.ID) string { return id.Digits() + ".html" }

func (b *build) run(ctx context.Context, all []Entry) error {
	if err := b.read(); err != nil {
		return err
	}
	b.Page.Home = indexName
	b.Page.Link = func(name string) string { return b.pages[name] }
	if b.Files != nil {
		b.finder = blame.NewFinder(b.Files.Repo, func(error) {}) // their own page reports it
	}
	drafts, err := b.drafts(ctx, all)
	if err != nil {
		return err
	}
	pages := []string{indexName}
	for i := range buckets {
		pages = append(pages, pieceName(i))
	}
	for _, d := range drafts {
		pages = append(pages, d.Page)
	}
	if err := b.begin(pages...); err != nil {
		return err
	}
	if err := b.files(ctx, drafts); err != nil {
		return err
	}
	for _, d := range drafts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.conversation(d); err != nil {
			return err
		}
	}
	links, err := b.commits(ctx)
	if err != nil {
		return err
	}
	files, err := b.fileList()
	if err != nil {
		return err
	}
	return errors.Join(b.finish(append(links, files...)), b.remove())
}

// A draft is a conversation before its page is written, which shows the cost of the conversations
// that come from it.
type draft struct {
	entry  Entry
	digest string
	files  []string // that its calls name, if files are published
	left   []string // the sessions of its rewound branches
	view.Summary
}

// A left has the turns of a rewound branch.
type left struct {
	view.Left

	digest string
}

// drafts reads all conversations that can be read.
func (b *build) drafts(ctx context.Context, all []Entry) ([]draft, error) {
	var drafts []draft
	var summaries []view.Summary
	for _, e := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		conv, shown, err := e.Load()
		if err != nil {
			b.Problem(err)
			continue
		}
		d := draft{entry: e, digest: b.digest(conv)}
		if b.finder != nil {
			d.files = b.finder.Add(blame.Subject{
				ID: e.ID, Title: view.TitleOf(shown), Stream: conv.Stream,
			})
		}
		if b.History != nil {
			b.ask(e.ID, view.TitleOf(shown), conv.Stream)
		}
		for name := range conv.Details.Rewound() {
			d.left = append(d.left, name)
		}
		slices.Sort(d.left)
		if strings.Contains(e.Session, "@") { // it may be that of another one
			b.left[e.Session] = left{view.LeftOf(pageName(e.ID), conv.Stream), d.digest}
		}
		s := b.Page.Summarize(conv)
		s.Author = cmp.Or(b.Authors[e.ID], s.Author)
		drafts = append(drafts, d)
		summaries = append(summaries, s)
	}
	view.Families(summaries)
	for i, s := range summaries {
		drafts[i].Summary = s
	}
	return drafts, nil
}

// read reads the folder's manifest and index. Unreadable files are written again.
func (b *build) read() error {
	b.is = manifest{
		Version: fmt.Sprintf("%s %s %t", b.Version, view.Revision(), b.Page.Focused),
		Pages:   make(map[string]entry),
		Sums:    make(map[string]string),
	}
	data, err := regular.Read(regular.In(b.root), manifestName, regular.MaxOwn)
	if errors.Is(err, fs.ErrNotExist) {
		return b.empty()
	}
	if err == nil {
		err = json.Unmarshal(data, &b.was)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", manifestName, err)
	}
	b.index, err = readIndex(b.root)
	if err != nil || b.was.Version != b.is.Version || !b.keepsIndex() {
		b.index = newIndex()
		for digits, e := range b.was.Pages {
			e.Digest = ""
			b.was.Pages[digits] = e
		}
		b.was.Next = 0
		for id := range b.was.Commits {
			b.was.Commits[id] = added{}
		}
		for name, f := range b.was.Files {
			f.Digest = ""
			b.was.Files[name] = f
		}
	}
	b.is.Next = b.was.Next
	return nil
}

// keeps reports whether a file still has the bytes that were written, and need not be written
// again.
func (b *build) keeps(name string) bool {
	data, err := regular.Read(regular.In(b.root), name, regular.MaxOwn)
	sum := sumOf(data)
	if err != nil || sum != b.was.Sums[name] {
		return false
	}
	b.is.Sums[name] = sum
	return true
}

// keepsIndex is keeps for the files of the search index.
func (b *build) keepsIndex() bool {
	all := true
	for i := range buckets {
		all = b.keeps(pieceName(i)) && all
	}
	return all
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// empty refuses a folder with other files.
func (b *build) empty() error {
	b.index = newIndex()
	entries, err := fs.ReadDir(regular.In(b.root), ".")
	if err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() != tempName // left by a run that was killed
	}) {
		err = ErrForeign
	}
	if err != nil {
		return fmt.Errorf("write a site to %s: %w", filepath.Clean(b.root.Name()), err)
	}
	return nil
}

// conversation writes a page unless the folder has it.
func (b *build) conversation(d draft) error {
	digits := d.ID.Digits()
	kin := d.Kin()
	digest := d.digest + kin
	for _, name := range d.files {
		digest += b.fileOf(name)
	}
	for _, name := range d.left {
		digest += b.left[name].digest
	}
	was := b.was.Pages[digits]
	if was.Digest == digest && b.keeps(d.Page) && (!was.Rest || b.keeps(view.RestPage(digits))) {
		d.Doc = was.Summary.Doc
		b.is.Pages[digits] = entry{digest, d.Summary, was.Rest}
		b.report.Kept++
		return nil
	}
	_, shown, err := d.entry.Load()
	if err != nil {
		b.Problem(err)
		return nil
	}
	if kin != "" {
		shown.Facts = append(shown.Facts, view.Fact{Name: "Together", Value: kin})
	}
	for _, name := range d.left {
		shown.Left = append(shown.Left, b.left[name].Left)
	}
	doc, rest := b.Page, view.NewRest(d.ID)
	doc.Rest = rest
	var page bytes.Buffer
	problems, err := doc.Write(&page, shown)
	if err != nil {
		return err
	}
	for _, p := range problems {
		b.Problem(fmt.Errorf("%s: %w", d.ID, p))
		digest = "" // what is missing now may exist the next time
	}
	if err := b.write(d.Page, page.Bytes()); err != nil {
		return err
	}
	if !rest.IsEmpty() {
		page.Reset()
		err := rest.Write(&page, indexName, view.TitleOf(shown))
		if err = errors.Join(err, b.write(view.RestPage(digits), page.Bytes())); err != nil {
			return err
		}
	}
	d.Doc = b.is.Next
	b.is.Next += d.Turns + 1
	b.is.Pages[digits] = entry{digest, d.Summary, !rest.IsEmpty()}
	b.report.Written++
	return b.index.add(d.Doc, shown.Conversation)
}

// digest returns the hash of everything that a page depends on: the stream names content by its
// hash.
func (b *build) digest(conv *workspace.Conversation) string {
	h := sha256.New()
	for _, data := range [][]byte{conv.Stream.Encode(), conv.Details.Encode(), conv.BaseConfig} {
		fmt.Fprintf(h, "%d\n", len(data))
		h.Write(data)
	}
	if o := workspace.OriginOf(conv.Details); o != nil {
		fmt.Fprintln(h, b.pages[o.ID])
	}
	for _, e := range conv.Stream.All() {
		if s, ok := e.Metadata().Text(sessions.MetadataSubagent); ok {
			fmt.Fprintln(h, s, b.pages[s])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// finish writes the list, the search index and the manifest, which names every file.
func (b *build) finish(links []view.Link) error {
	docs := make(map[int]int, len(b.is.Pages))
	for _, is := range b.is.Pages {
		docs[is.Summary.Doc] = is.Summary.Turns
	}
	b.index.keep(docs)
	for i := range buckets {
		if !b.index.changed[i] {
			continue
		}
		data, err := b.index.encode(i)
		if err == nil {
			err = b.write(pieceName(i), data)
		}
		if err != nil {
			return err
		}
	}
	all := make([]view.Summary, 0, len(b.is.Pages))
	for _, e := range b.is.Pages {
		all = append(all, e.Summary)
	}
	slices.SortFunc(all, func(a, b view.Summary) int {
		if c := b.Last.Compare(a.Last); c != 0 {
			return c
		}
		return int(a.ID - b.ID)
	})
	var list bytes.Buffer
	if err := (view.Index{Title: b.Title, Links: links}).Write(&list, all); err != nil {
		return err
	}
	if err := b.write(indexName, list.Bytes()); err != nil {
		return err
	}
	return b.save(&b.is)
}

func (b *build) save(m *manifest) error {
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", manifestName, err)
	}
	return b.put(manifestName, append(data, '\n'))
}

// begin names files in the manifest before they are written. If the run is interrupted, the folder
// is a site for the next one, which knows what to remove. Files that are named together cost one
// write of the manifest.
func (b *build) begin(names ...string) error {
	known := len(b.was.Sums)
	if known == 0 {
		b.was.Sums = make(map[string]string, len(names))
	}
	for _, name := range names {
		if _, ok := b.was.Sums[name]; !ok {
			b.was.Sums[name] = ""
		}
	}
	if len(b.was.Sums) == known {
		return nil
	}
	return b.save(&b.was)
}

// remove removes pages of conversations and commits that no longer exist.
func (b *build) remove() error {
	var errs []error
	remove := func(name string) (removed bool) {
		err := b.root.Remove(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove a page: %w", err))
		}
		return err == nil
	}
	for digits, was := range b.was.Pages {
		is, ok := b.is.Pages[digits]
		if !ok && isDigits(digits) && remove(digits+".html") {
			b.report.Removed++
		}
		if was.Rest && !is.Rest && isDigits(digits) {
			remove(view.RestPage(digits))
		}
	}
	for id := range b.was.Commits {
		if _, err := gitint.ParseOID(id); err == nil && len(b.is.Commits[id].Turns) == 0 {
			remove(view.CommitPage(id))
		}
	}
	if len(b.was.Commits) > 0 && len(b.is.Commits) == 0 {
		remove(commitsName)
	}
	b.removeFiles(remove)
	for name, sum := range b.was.Sums {
		if _, ok := b.is.Sums[name]; !ok && sum == "" && isPage(name) {
			remove(name)
		}
	}
	return errors.Join(errs...)
}

// isPage reports whether a name is that of a page: the manifest may be forged.
func isPage(name string) bool { return pageNames().MatchString(name) }

var pageNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d+(-rest)?|(file|commit)-[0-9a-f]+|files|commits)\.html$`)
})

// isDigits reports whether a name of the manifest can name a page: the file may be forged.
func isDigits(s string) bool {
	id, err := events.ParseID(s)
	return err == nil && id.Digits() == s
}

// write writes a file of the site.
func (b *build) write(name string, data []byte) error {
	if err := b.begin(name); err != nil {
		return err
	}
	b.is.Sums[name] = sumOf(data)
	return b.put(name, data)
}

// put replaces a file unless it has the bytes already: publishing the folder then sends less.
func (b *build) put(name string, data []byte) error {
	was, err := regular.Read(regular.In(b.root), name, regular.MaxOwn)
	if err == nil && bytes.Equal(was, data) {
		return nil
	}
	err = atomicfile.Write(b.root, name, data, atomicfile.Options{TempDir: tempName})
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
