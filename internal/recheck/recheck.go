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

// Options select the hashes and the places to search.
type Options struct {
	// Hashes are the hashes of the content that is about to be deleted.
	Hashes []blobs.Hash
	// Dir is the directory where git runs; if empty, no repository is searched.
	Dir string
	// Env is the environment of git.
	Env []string
	// Dirs are directories .jp, or user-local ones, that are searched whether git knows them or
	// not.
	Dirs []string
	// UserData is the directory with all user-local copies; "" if there is none.
	UserData string
}

// A Finding is a place that has one of the hashes.
type Finding struct {
	Root   string // a working tree, an index, a ref, an operation, or "history"
	Commit string // "" outside of commits
	Path   string // "" if unknown
	// Lacking is true if the hash counts only because the commit lacks the blob.
	Lacking bool
}

// String returns the finding in one line.
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

// An Opinion searches for some hashes. It reads each git object once, because objects never change;
// it reads files, indexes and names each time. Findings are kept between calls. After an error
// every call fails.
type Opinion struct {
	o     Options
	watch *watch
	trees *trees
	found map[int32]Finding
	// known has the paths at which indexes and tips have directories .jp, searched the directories
	// on disk that the current call has searched.
	known, searched map[string]bool
	// ids has the git files that contain names of directories .jp, and whether they were read;
	// called has these names.
	ids    map[oid]bool
	called map[string]bool
	err    error
}

// New returns an opinion about the hashes of o. It reads nothing yet.
func New(o Options) *Opinion {
	w := newWatch(o.Hashes)
	return &Opinion{
		o: o, watch: w, trees: newTrees(w), found: make(map[int32]Finding),
		known: make(map[string]bool), ids: make(map[oid]bool), called: make(map[string]bool),
	}
}

// Referred reports one place of each hash that occurs in something that may be committed or merged
// next.
func (p *Opinion) Referred(ctx context.Context) (map[blobs.Hash]Finding, error) {
	return p.ask(ctx, false)
}

// Uncarried also reports hashes in older commits that lack the blob.
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

// look searches everywhere. It reads names before the history that they lead to.
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

// names returns all names of objects except those in reflogs. It reads loose refs before packed
// ones, as git does.
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

// inHistory is the root in findings in older commits.
const inHistory = "history"

// portion is the number of trees that are searched together: a tree needs more memory during the
// search than what is remembered of it.
const portion = 4096

// history searches the commits that are reachable from names and reflogs.
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
				continue // git prints this line before each commit
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

// judge searches trees. Trees that must not have a hash at all come first: a hash found there needs
// no check for its blob in the others.
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

// blame adds the findings in places.
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

// located limits how many findings in trees are reported with the name of the file.
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

// fileWith returns the first file of a tree that contains a hash, for the message.
func (g *git) fileWith(ctx context.Context, tree oid, h blobs.Hash) (string, error) {
	out, _, err := g.output(ctx, "grep", "--no-recurse-submodules", "--name-only", "--null",
		"--text", "--ignore-case", "--fixed-strings", "-e", h.String(), tree.hex())
	first, _, _ := strings.Cut(out, "\x00")
	_, file, _ := strings.Cut(first, ":")
	return file, err
}

// addID records a git file that contains the name of a directory .jp.
func (p *Opinion) addID(id oid) {
	if _, ok := p.ids[id]; !ok {
		p.ids[id] = false
	}
}

// add records a finding, unless the hash has one.
func (p *Opinion) add(n int32, f Finding) {
	if _, ok := p.found[n]; !ok {
		p.found[n] = f
	}
}
