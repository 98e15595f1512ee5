package recheck

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/regular"
)

// A part is what one worktree has of its own in a repository: HEAD, an index, refs.
type part struct {
	dir   string
	title string // follows the name of the root in findings
	index string
}

// A repository has the places where one git repository keeps its data.
type repository struct {
	git    *git
	common string
	parts  []part
	trees  []string // the roots of working trees
	// inFiles is set if refs and pseudo-refs such as MERGE_HEAD are stored as files. An older git
	// prints the unknown option instead of a format: it always stores them as files.
	inFiles bool
	heads   []name // as git lists them
}

// A name refers to an object.
type name struct {
	root string
	id   oid
	// needed is true if the object must exist. Other names may refer to objects that git has
	// collected since.
	needed bool
	stash  bool
}

const askRefFormat = "--show-ref-format"

// open finds the parts of a repository.
func open(ctx context.Context, g *git) (*repository, error) {
	out, _, err := g.output(ctx, "rev-parse", "--path-format=absolute", "--show-object-format",
		"--is-inside-work-tree", "--git-dir", "--git-common-dir", "--git-path", "index",
		askRefFormat, "--show-toplevel")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	// Where there is no working tree, git fails for want of its root after all else is said.
	bare := len(lines) == 6 && lines[1] == "false"
	if err != nil && !bare {
		return nil, err
	}
	if len(lines) != 7 && !bare {
		return nil, fmt.Errorf("find the repository of %s: git says %q", g.dir, out)
	}
	g.format = lines[0]
	r := &repository{git: g, common: lines[3]}
	r.inFiles = lines[5] == askRefFormat || lines[5] == "files"
	if lines[1] == "true" {
		r.addTree(lines[6])
	}
	r.addPart(part{r.common, "", filepath.Join(r.common, "index")})
	if err := r.linked(); err != nil {
		return nil, err
	}
	r.addPart(part{lines[2], "", lines[4]})
	return r, r.listed(ctx)
}

func (r *repository) addTree(root string) {
	if root != "" && !slices.Contains(r.trees, root) {
		r.trees = append(r.trees, root)
	}
}

// addPart adds a part, or a further index of a part, once.
func (r *repository) addPart(p part) {
	if !slices.ContainsFunc(r.parts, func(q part) bool {
		return q.dir == p.dir && q.index == p.index
	}) {
		r.parts = append(r.parts, p)
	}
}

// linked adds the parts of linked worktrees by the directories on disk.
func (r *repository) linked() error {
	dir := filepath.Join(r.common, "worktrees")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			continue
		}
		r.addPart(part{p, fmt.Sprintf(" of working tree %q", e.Name()), filepath.Join(p, "index")})
		data, err := regular.ReadFile(filepath.Join(p, "gitdir"), regular.MaxNote)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if link := strings.TrimSuffix(string(data), "\n"); link != "" {
			if !filepath.IsAbs(link) {
				link = filepath.Join(p, link)
			}
			r.addTree(filepath.Dir(link))
		}
	}
	return nil
}

// listed adds the working trees that git lists, and those of a configuration.
func (r *repository) listed(ctx context.Context) error {
	out, _, err := r.git.output(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "worktree":
			r.addTree(value)
		case "HEAD":
			id, err := parseOID(value)
			if err != nil {
				return fmt.Errorf("list working trees: %w", err)
			}
			r.heads = append(r.heads, name{root: "HEAD", id: id, needed: true})
		}
	}
	return r.configured(ctx)
}

// configured adds the working trees that the configuration of a part names, each value of each.
func (r *repository) configured(ctx context.Context) error {
	for _, p := range r.parts {
		out, stderr, err := r.git.in(p.dir).output(ctx,
			"config", "-z", "--get-all", "core.worktree")
		if err != nil && stderr != "" {
			return err
		}
		for root := range strings.SplitSeq(out, "\x00") {
			if root != "" && !filepath.IsAbs(root) {
				root = filepath.Join(p.dir, root)
			}
			r.addTree(root)
		}
	}
	return nil
}

// refs lists the refs that each part sees.
func (r *repository) refs(ctx context.Context) ([]name, error) {
	var all []name
	seen := make(map[string]bool)
	for _, p := range r.parts {
		args := []string{"for-each-ref", "--format=%(objectname) %(refname)"}
		if !r.inFiles {
			args = append(args, "--include-root-refs")
		}
		out, stderr, err := r.git.in(p.dir).output(ctx, args...)
		if err != nil {
			return nil, err
		}
		if strings.Contains(stderr, "broken ref") {
			return nil, fmt.Errorf("list refs: %s", strings.TrimSpace(stderr))
		}
		for line := range strings.Lines(out) {
			if seen[line] {
				continue
			}
			seen[line] = true
			digits, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			id, err := parseOID(digits)
			if err != nil {
				return nil, fmt.Errorf("list refs: %w", err)
			}
			isRef := strings.HasPrefix(ref, "refs/")
			all = append(all, name{ref, id, isRef || ref == "HEAD", ref == stashRef})
			replaced, ok := strings.CutPrefix(ref, "refs/replace/")
			if id, err := parseOID(replaced); ok && err == nil {
				all = append(all, name{root: ref + " (replaced)", id: id})
			}
		}
	}
	return all, nil
}

const stashRef = "refs/stash"

// stashed lists the stash entries if they are in no file.
func (r *repository) stashed(ctx context.Context) ([]name, error) {
	if r.inFiles {
		return nil, nil
	}
	out, _, err := r.git.in(r.common).output(ctx,
		"log", "--walk-reflogs", "--all", "--no-show-signature", "--format=%H %gD")
	if err != nil {
		return nil, err
	}
	var all []name
	for line := range strings.Lines(out) {
		digits, entry, _ := strings.Cut(line, " ")
		id, err := parseOID(digits)
		if err != nil {
			return nil, fmt.Errorf("list the stash: %w", err)
		}
		if strings.HasPrefix(entry, stashRef+"@") {
			all = append(all, name{root: "the stash", id: id, stash: true})
		}
	}
	return all, nil
}

// operationDirs have the state of operations in progress.
var operationDirs = []string{
	"rebase-merge", "rebase-apply", "sequencer", "NOTES_MERGE_WORKTREE", conflictsDir,
}

// sharedDirs have the records of rerere and the objects found by fsck, for all worktrees.
var sharedDirs = []string{"rr-cache", "lost-found"}

// conflictsDir has a record of each open conflict of a merge driver.
const conflictsDir = "jp/conflicts"

// A textFile is a file in a git directory that contains names of objects, or hashes.
type textFile struct {
	path, root   string
	names        bool // it contains names of objects
	short, stash bool
	record       bool // it contains other files in base64
}

// texts lists the files beside HEAD, those of operations in progress, the reflog of the stash, and
// the quarantine.
func (r *repository) texts() ([]textFile, error) {
	all := []textFile{{
		path: filepath.Join(r.common, "logs", "refs", "stash"), root: "the stash", stash: true,
		names: true,
	}}
	for _, p := range r.parts {
		entries, err := os.ReadDir(p.dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !e.IsDir() && strings.Trim(e.Name(), "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
				all = append(all, textFile{
					path: filepath.Join(p.dir, e.Name()), root: e.Name() + p.title, names: true,
				})
			}
		}
		dirs := operationDirs
		if p.dir == r.common {
			dirs = slices.Concat(dirs, sharedDirs)
		}
		for _, dir := range dirs {
			err := files(filepath.Join(p.dir, filepath.FromSlash(dir)), nil, func(file string) {
				name := filepath.ToSlash(strings.TrimPrefix(file, p.dir)[1:])
				all = append(all, textFile{
					path: file, root: name + p.title, names: true, short: isTodo(name),
					record: dir == conflictsDir,
				})
			})
			if err != nil {
				return nil, err
			}
		}
	}
	err := quarantined(filepath.Join(r.common, "jp", "trash"), func(file string) {
		all = append(all, textFile{path: file, root: "the quarantine"})
	})
	return all, err
}

// isTodo reports whether a file lists commits by shortened names.
func isTodo(name string) bool {
	base := filepath.Base(name)
	return strings.Contains(base, "todo") || base == "done"
}

// quarantined calls f with the files of a quarantine, except the collector's own journals.
func quarantined(dir string, f func(path string)) error {
	dir, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return files(dir, func(name string) bool {
		run := filepath.Dir(name)
		return filepath.Dir(run) == dir && isJournal(run, filepath.Base(name))
	}, f)
}

// isJournal reports whether a file is a journal of the collector. A run that was killed at its
// beginning has only temporary files; a copy of changed conversations gets its manifest first.
func isJournal(run, name string) bool {
	there := func(name string) bool {
		info, err := os.Lstat(filepath.Join(run, name))
		return err == nil && info.Mode().IsRegular()
	}
	switch name {
	case "tmp":
		return !there("aside.json")
	case "files", "run.json", "items.jsonl":
		return !there("aside.json") && (there("run.json") || there("items.jsonl"))
	}
	return false
}

// files calls f with each regular file below a directory, if it exists, except those that leaveOut
// excludes.
func files(dir string, leaveOut func(path string) bool, f func(path string)) error {
	return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case leaveOut != nil && leaveOut(name):
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.Type().IsRegular():
			f(name)
		}
		return nil
	})
}

// fewestDigits is the shortest abbreviation of an object name in git.
const fewestDigits = 4

// read searches a file for hashes, and returns the object names in it.
func (p *Opinion) read(f textFile) (ids, short []string, err error) {
	file, err := regular.OpenFile(f.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, nil, err
	}
	defer file.Close() //nolint:errcheck // was only read
	digits := 2 * p.trees.git.idSize()
	var text io.Reader = bufio.NewReader(file)
	if f.record {
		if text, err = withDecoded(file); err != nil {
			return nil, nil, err
		}
	}
	err = hexRuns(text, p.watch.buf, fewestDigits, func(run []byte) {
		if n, ok := p.watch.number(run); ok {
			p.add(n, Finding{Root: f.root, Path: f.path})
		}
		switch {
		case f.names && len(run) == digits:
			ids = append(ids, string(run))
		case f.short && len(run) < digits:
			short = append(short, string(run)+"^{commit}")
		}
	})
	return ids, short, err
}

// withDecoded returns a text, followed by the decoded base64 in it.
func withDecoded(r io.Reader) (io.Reader, error) {
	data, err := regular.ReadAll(r, regular.MaxOwn)
	text := slices.Clone(data)
	for _, run := range bytes.FieldsFunc(data, func(c rune) bool {
		return c != '+' && c != '/' && c != '=' && (c < '0' || c > '9') &&
			(c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	}) {
		if decoded, err := base64.StdEncoding.AppendDecode(nil, run); err == nil {
			text = append(append(text, '\n'), decoded...)
		}
	}
	return bytes.NewReader(text), err
}

// named returns the object names in files, if these objects exist.
func (p *Opinion) named(ctx context.Context, all []textFile) ([]name, error) {
	var asked []string
	var of []textFile
	for _, f := range all {
		ids, short, err := p.read(f)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.root, err)
		}
		for _, one := range append(ids, short...) {
			asked, of = append(asked, one), append(of, f)
		}
	}
	infos, err := p.trees.infos(ctx, asked)
	var found []name
	for i, one := range infos {
		if one.kind != "" {
			found = append(found, name{root: of[i].root, id: one.id, stash: of[i].stash})
		}
	}
	return found, err
}

// targets returns the trees that names lead to, and searches the files that they name.
func (p *Opinion) targets(ctx context.Context, names []name) ([]target, error) {
	var all []target
	for len(names) > 0 {
		ids := make([]string, len(names))
		for i, n := range names {
			ids[i] = n.id.hex()
		}
		infos, err := p.trees.infos(ctx, ids)
		if err != nil {
			return nil, err
		}
		by := make(map[string][]name)
		for i, one := range infos {
			if one.kind == "" && names[i].needed && !names[i].id.isZero() {
				absent := &objectError{names[i].id, errAbsent}
				return nil, fmt.Errorf("%s: %w", names[i].root, absent)
			}
			by[one.kind] = append(by[one.kind], names[i])
		}
		for _, n := range by["tree"] {
			// A tree that a ref names may be any part of a directory .jp; one in the state of an
			// operation is a complete working tree.
			all = append(all, target{root: n.root, tree: n.id, whole: n.needed})
		}
		if err := p.blobs(ctx, by["blob"]); err != nil {
			return nil, err
		}
		commits, stashed, err := p.commits(ctx, by["commit"])
		if err != nil {
			return nil, err
		}
		all = append(all, commits...)
		if names, err = p.tags(ctx, by["tag"]); err != nil {
			return nil, err
		}
		names = append(names, stashed...)
	}
	return all, nil
}

// blobs searches files that names refer to directly.
func (p *Opinion) blobs(ctx context.Context, names []name) error {
	return p.trees.objects(ctx, idsOf(names), func(i int, _ string, r io.Reader) error {
		found, err := p.watch.in(r)
		for _, n := range found {
			p.add(n, Finding{Root: names[i].root})
		}
		return err
	})
}

func idsOf(names []name) []oid {
	ids := make([]oid, len(names))
	for i, n := range names {
		ids[i] = n.id
	}
	return ids
}

// commits returns the trees of commits, and the further parents of stash entries.
func (p *Opinion) commits(ctx context.Context, names []name) ([]target, []name, error) {
	all := make([]target, 0, len(names))
	var stashed []name
	err := p.trees.objects(ctx, idsOf(names), func(i int, _ string, r io.Reader) error {
		h, err := readHeader(r)
		n := names[i]
		// Tags are not merged.
		isTag := strings.HasPrefix(n.root, "refs/tags/")
		all = append(all, target{
			root: n.root, commit: n.id, tree: h.tree, carries: isTag,
			// A stream may be a note, whose path does not show that it is one.
			whole: strings.HasPrefix(n.root, "refs/notes/"),
		})
		if n.stash && len(h.parents) > 1 {
			for _, id := range h.parents[1:] {
				stashed = append(stashed, name{root: n.root, id: id, needed: true})
			}
		}
		return err
	})
	return all, stashed, err
}

// tags returns the objects that tags refer to.
func (p *Opinion) tags(ctx context.Context, names []name) ([]name, error) {
	next := make([]name, len(names))
	err := p.trees.objects(ctx, idsOf(names), func(i int, _ string, r io.Reader) error {
		h, err := readHeader(r)
		next[i] = names[i]
		next[i].id, next[i].needed = h.object, true
		return err
	})
	return next, err
}
