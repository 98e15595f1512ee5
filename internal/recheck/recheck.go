package recheck

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
)

// Options say what is asked about and where.
type Options struct {
	// Hashes are those of the content that is about to go.
	Hashes []blobs.Hash
	// Dir is where git runs; without it no repository is asked.
	Dir string
	// Env is the environment of git.
	Env []string
	// Dirs are directories .jp, or user-local ones, that are searched whatever git knows of
	// them.
	Dirs []string
	// UserData has the directories of all user-local copies; "" where there are none.
	UserData string
}

// A Finding is a place where a hash stands that was to go.
type Finding struct {
	Root   string // a working tree, an index, a ref, an operation, or "history"
	Commit string // "" where it is in none
	Path   string // "" where it is not known
	// Lacking says that the hash counts because the commit lacks the blob.
	Lacking bool
}

// String is one line.
func (f Finding) String() string {
	text := f.Root
	if f.Commit != "" {
		text += ", commit " + f.Commit
	}
	if f.Path != "" {
		text += ": " + f.Path
	}
	if f.Lacking {
		text += ", without its blob"
	}
	return text
}

// An Opinion is one about some hashes. The objects of git that it has read it does not read again,
// because they never change; files, indexes and names it reads each time. What was found stays
// found. After an error it has no opinion any more.
type Opinion struct {
	o     Options
	watch *watch
	trees *trees
	found map[int32]Finding
	// known are the paths at which indexes and tips have directories .jp, and searched the
	// directories on disk that were searched this time.
	known, searched map[string]bool
	// ids are the files of git that name directories .jp, and whether they were read; called
	// is what they are named.
	ids    map[oid]bool
	called map[string]bool
	err    error
}

// New begins an opinion. Nothing is read yet.
func New(o Options) *Opinion {
	w := newWatch(o.Hashes)
	return &Opinion{
		o: o, watch: w, trees: newTrees(w), found: make(map[int32]Finding),
		known: make(map[string]bool), ids: make(map[oid]bool), called: make(map[string]bool),
	}
}

// Referred reports where hashes stand in what somebody may commit or merge next, one place of
// each.
func (p *Opinion) Referred(ctx context.Context) (map[blobs.Hash]Finding, error) {
	return p.ask(ctx, false)
}

// Uncarried also reports hashes that stand in an older commit without the blob.
func (p *Opinion) Uncarried(ctx context.Context) (map[blobs.Hash]Finding, error) {
	return p.ask(ctx, true)
}

func (p *Opinion) ask(ctx context.Context, history bool) (map[blobs.Hash]Finding, error) {
	if p.err == nil && len(p.watch.hashes) > 0 {
		p.err = p.look(ctx, history)
	}
	if p.err != nil {
		return nil, fmt.Errorf("look for what refers to content that would be deleted: %w", p.err)
	}
	found := make(map[blobs.Hash]Finding, len(p.found))
	for n, f := range p.found {
		found[p.watch.hashes[n]] = f
	}
	return found, nil
}

// look looks everywhere. Names come before the history that they lead to.
func (p *Opinion) look(ctx context.Context, history bool) error {
	if p.o.Dir == "" {
		return errors.Join(p.disk(ctx, nil), p.userData(ctx, nil))
	}
	g := &git{dir: p.o.Dir, env: p.o.Env}
	r, err := open(ctx, g)
	if err != nil {
		return err
	}
	p.trees.git, p.trees.batch = g, &batch{git: g}
	defer p.trees.close()
	if err := p.disk(ctx, r.trees); err != nil {
		return err
	}
	for _, part := range r.parts {
		if err := p.indexes(ctx, g, part); err != nil {
			return err
		}
	}
	names, err := p.names(ctx, r)
	if err != nil {
		return err
	}
	targets, err := p.targets(ctx, names)
	if err == nil {
		err = p.judge(ctx, targets)
	}
	if err == nil {
		err = p.tracked(ctx, r.trees)
	}
	if err == nil {
		err = p.userData(ctx, r.trees)
	}
	if err == nil && history {
		err = p.history(ctx, names)
	}
	return err
}

// names returns every name for an object but those in logs of refs. Loose refs are read before
// packed ones, as git does.
func (p *Opinion) names(ctx context.Context, r *repository) ([]name, error) {
	refs, err := r.refs(ctx)
	if err != nil {
		return nil, err
	}
	texts, err := r.texts()
	if err != nil {
		return nil, err
	}
	stashed, err := r.stashed(ctx)
	if err != nil {
		return nil, err
	}
	named, err := p.named(ctx, texts)
	return slices.Concat(r.heads, refs, stashed, named), err
}

// inHistory is the root of older commits.
const inHistory = "history"

// portion is how many trees are looked at together: what is known of one of them while it is
// looked at takes more room than what is remembered.
const portion = 4096

// history searches the commits that names and logs lead to.
func (p *Opinion) history(ctx context.Context, names []name) error {
	var input strings.Builder
	for _, n := range names {
		if !n.needed {
			input.WriteString(n.id.hex() + "\n")
		}
	}
	var targets []target
	seen := make(map[oid]struct{})
	_, err := p.trees.git.run(ctx, strings.NewReader(input.String()), func(r io.Reader) error {
		for lines := bufio.NewReader(r); ; {
			line, err := lines.ReadString('\n')
			if errors.Is(err, io.EOF) && line == "" {
				return nil
			}
			if err != nil {
				return err
			}
			commit, tree, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if commit == "commit" {
				continue // git says so before each
			}
			id, err := parseOID(tree)
			if err != nil {
				return fmt.Errorf("git lists a commit as %q", line)
			}
			if _, ok := seen[id]; !ok {
				seen[id] = struct{}{}
				of, _ := parseOID(commit)
				one := target{root: inHistory, commit: of, tree: id, carries: true}
				targets = append(targets, one)
			}
		}
	}, "rev-list", "--all", "--reflog", "--stdin", "--format=%H %T")
	if err != nil {
		return err
	}
	return p.judge(ctx, targets)
}

// judge searches trees, those first that must not have a hash at all: what they have the others
// need not be asked for.
func (p *Opinion) judge(ctx context.Context, targets []target) error {
	slices.SortStableFunc(targets, func(a, b target) int {
		switch {
		case a.carries == b.carries:
			return 0
		case b.carries:
			return -1
		}
		return 1
	})
	for some := range slices.Chunk(targets, portion) {
		places, err := p.trees.find(ctx, some)
		if err != nil {
			return err
		}
		if err := p.trees.learn(ctx, places); err != nil {
			return err
		}
		if err := p.blame(ctx, places); err != nil {
			return err
		}
	}
	return nil
}

// blame adds what is wrong with places.
func (p *Opinion) blame(ctx context.Context, places []place) error {
	var asked []place
	for _, one := range places {
		if one.target.root != inHistory {
			p.note(one.path + "/")
		}
		if one.target.carries {
			asked = append(asked, one)
			continue
		}
		for _, id := range one.ids {
			p.addID(id)
		}
		if err := p.addAll(ctx, one, one.hashes); err != nil {
			return err
		}
	}
	lacking, err := p.trees.uncarried(ctx, asked)
	if err != nil {
		return err
	}
	for i, one := range asked {
		if err := p.addAll(ctx, one, lacking[i]); err != nil {
			return err
		}
	}
	return nil
}

// located is how many findings in trees are reported with the file.
const located = 10

func (p *Opinion) addAll(ctx context.Context, one place, numbers []int32) error {
	for _, n := range numbers {
		if _, ok := p.found[n]; ok {
			continue
		}
		f := Finding{
			Root: one.target.root, Commit: one.target.commit.hex(), Path: one.path,
			Lacking: one.target.carries,
		}
		if len(p.found) < located {
			file, err := p.trees.git.fileWith(ctx, one.dir, p.watch.hashes[n])
			if err != nil {
				return err
			}
			f.Path = path.Join(one.path, file)
		}
		p.add(n, f)
	}
	return nil
}

// fileWith returns the first file of a tree in which a hash stands, for people.
func (g *git) fileWith(ctx context.Context, tree oid, h blobs.Hash) (string, error) {
	out, _, err := g.output(ctx, "grep", "--no-recurse-submodules", "--name-only", "--null",
		"--text", "--ignore-case", "--fixed-strings", "-e", h.String(), tree.hex())
	first, _, _ := strings.Cut(out, "\x00")
	_, file, _ := strings.Cut(first, ":")
	return file, err
}

// addID notes a file that names a directory .jp.
func (p *Opinion) addID(id oid) {
	if _, ok := p.ids[id]; !ok {
		p.ids[id] = false
	}
}

// add notes the first place where a hash stands.
func (p *Opinion) add(n int32, f Finding) {
	if _, ok := p.found[n]; !ok {
		p.found[n] = f
	}
}
