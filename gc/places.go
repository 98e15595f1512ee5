package gc

import (
	"context"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A placeSearch finds conversations in trees. They are in a directory .jp at any depth. But a tag
// or a branch can also name a tree at or below one, as git subtree makes them, or one with another
// name: wherever a file events.json is, there are streams. A note may be one too, under the name of
// an object, and notes are not only in refs/notes: FETCH_HEAD names those that were fetched,
// NOTES_MERGE_PARTIAL those of a merge that stopped.
type placeSearch struct {
	trees *treeCache
	nodes map[gitint.OID]*placeNode
}

type placeNode struct {
	dirs  []gitint.Entry
	own   gitint.OID // the tree of its .jp
	place refs.Place // the place in own
	// spelled has conversations in own whose directory is spelled differently.
	spelled []refs.Place

	hasStream     bool       // a file events.json, or a copy beside one
	hasMetadata   bool       // the other files of a conversation
	hasConfig     bool       // likewise
	conversations gitint.OID // the directory conversations
	blobs         gitint.OID // beside it
	id            gitint.OID // likewise, the file .id

	hasNote  bool // a file with the name of a note
	hasOther bool // an entry with a name that is in no tree of notes

	found []refs.Place
	done  bool
}

func (s *placeSearch) read(ctx context.Context, level []gitint.OID) error {
	var inside []*placeNode
	for len(level) > 0 {
		level = s.fresh(level)
		err := s.trees.repo.AtOnce().ReadTrees(ctx, level, func(i int, t gitint.TreeData) error {
			n := s.nodes[level[i]] // the map does not change meanwhile
			t.Entries(n.note)
			n.leaveBlobs()
			return nil
		})
		if err != nil {
			return err
		}
		var next []gitint.OID
		for _, id := range level {
			n := s.nodes[id]
			if !n.own.IsZero() {
				inside = append(inside, n)
			}
			for _, d := range n.dirs {
				next = append(next, d.OID)
			}
		}
		level = next
	}
	owns := lists.Map(inside, func(n *placeNode) gitint.OID { return n.own })
	return s.trees.repo.AtOnce().ReadTrees(ctx, owns, func(i int, t gitint.TreeData) error {
		t.Entries(inside[i].noteOwn)
		if e, ok := t.Find(blobsName); ok && e.Mode == gitint.ModeDir {
			inside[i].place.Blobs = e.OID
		}
		if e, ok := t.Find(workspace.IDFile); ok && e.Mode.IsRegular() {
			inside[i].place.ID = e.OID
		}
		return nil
	})
}

// note records an entry of the tree.
func (n *placeNode) note(e gitint.Entry) {
	switch form := noteForm(e); {
	case form && e.Mode.IsRegular():
		n.hasNote = true
	case !form:
		n.hasOther = true
	}
	switch {
	case e.Mode.IsRegular():
		n.hasStream = n.hasStream || isStreamName(e.Path)
		n.hasMetadata = n.hasMetadata || strings.EqualFold(e.Path, workspace.MetadataFile)
		n.hasConfig = n.hasConfig || strings.EqualFold(e.Path, workspace.BaseConfigFile)
		if e.Path == workspace.IDFile {
			n.id = e.OID
		}
		return
	case e.Mode != gitint.ModeDir:
		return
	case e.Path == workspace.DirName:
		n.own = e.OID
		return
	case e.Path == blobsName:
		n.blobs = e.OID
	case strings.EqualFold(e.Path, conversationsName):
		n.conversations = e.OID
	}
	n.dirs = append(n.dirs, e)
}

// noteOwn records an entry of .jp. With core.ignorecase, conversations may be in a directory with
// another spelling, in addition to the usual one.
func (n *placeNode) noteOwn(e gitint.Entry) {
	switch {
	case e.Mode != gitint.ModeDir || !strings.EqualFold(e.Path, conversationsName):
	case e.Path == conversationsName:
		n.place.Conversations = e.OID
	default:
		n.spelled = append(n.spelled, refs.Place{
			Dir: workspace.DirName, Conversations: e.OID,
		})
	}
}

// leaveBlobs excludes the blobs beside conversations from the search: they have thousands of
// directories.
func (n *placeNode) leaveBlobs() {
	if !n.conversations.IsZero() {
		n.dirs = slices.DeleteFunc(n.dirs, func(e gitint.Entry) bool { return e.OID == n.blobs })
	}
}

// isConversation reports whether the tree is, or may be, that of a conversation. A project can have
// a file of that name among many others: those are not searched.
func (n *placeNode) isConversation() bool {
	return n.hasStream && n.own.IsZero() && (len(n.dirs) == 0 || n.hasConfig)
}

// noteForm reports whether an entry may be in a tree of notes: a file is named like an object, less
// the two digits of each directory that it is in. Git makes more directories the more notes there
// are, and no tree of ours has so many that four are needed.
func noteForm(e gitint.Entry) bool {
	const most = 3
	sizes := []int{20, 32} // of the names of objects, in bytes
	id, err := hex.DecodeString(e.Path)
	switch size := len(id); {
	case err != nil:
		return false
	case e.Mode == gitint.ModeDir:
		return size == 1
	default:
		return e.Mode.IsRegular() && slices.ContainsFunc(sizes, func(of int) bool {
			return of-most <= size && size <= of
		})
	}
}

// isStreamName reports whether a file is a stream, or may be a copy of the one beside it. It
// ignores case, for a .JP that is checked out on a case-insensitive file system; on others this
// costs reading one more file.
func isStreamName(name string) bool {
	n := len(workspace.EventsFile)
	return len(name) >= n && strings.EqualFold(name[:n], workspace.EventsFile)
}

// fresh returns the trees that were not seen before, in their order.
func (s *placeSearch) fresh(ids []gitint.OID) []gitint.OID {
	out := ids[:0]
	for _, id := range ids {
		if s.nodes[id] == nil && !id.IsZero() {
			s.nodes[id] = new(placeNode)
			out = append(out, id)
		}
	}
	return out
}

// below returns the places in a tree. It does not search inside a place for others, unless it may
// be no conversation.
func (s *placeSearch) below(tree gitint.OID) []refs.Place {
	n := s.nodes[tree]
	if n.done {
		return n.found
	}
	n.done = true
	if !n.own.IsZero() {
		n.place.Dir = workspace.DirName
		n.found = leading(n.own, append(append(n.found, n.place), n.spelled...))
	}
	if n.isConversation() {
		p := refs.Place{Conversations: tree, Kind: refs.Stray}
		if n.hasMetadata || n.hasConfig {
			p.Kind = refs.Copy
		}
		n.found = append(n.found, p)
	}
	if n.hasNote && !n.hasOther {
		n.found = append(n.found, refs.Place{Conversations: tree, Kind: refs.Notes})
	}
	for _, d := range n.dirs {
		below := s.below(d.OID)
		if d.OID == n.conversations {
			below = n.joined(below)
		}
		for _, p := range leading(d.OID, below) {
			p.Dir = path.Join(d.Path, p.Dir)
			n.found = append(n.found, p)
		}
	}
	n.dirs = nil
	return n.found
}

// leading records for places that a tree leads to them.
func leading(tree gitint.OID, all []refs.Place) []refs.Place {
	all = slices.Clone(all)
	for i, p := range all {
		all[i].Through = append(slices.Clip(p.Through), tree)
	}
	return all
}

// joined combines the copies in a directory conversations into one place: the blobs beside it are
// theirs.
func (n *placeNode) joined(below []refs.Place) []refs.Place {
	all := make([]refs.Place, 0, len(below))
	p := refs.Place{
		Conversations: n.conversations, Blobs: n.blobs, ID: n.id,
		Kind: refs.Stray,
	}
	copies := false
	for _, b := range below {
		switch b.Kind {
		case refs.Workspace:
			all = append(all, b)
			continue
		case refs.Copy:
			p.Kind = refs.Copy
		}
		copies = true
	}
	if copies {
		all = append(all, p)
	}
	return all
}
