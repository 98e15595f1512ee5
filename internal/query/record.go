package query

import (
	"errors"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Record is a conversation that no other process changes during the turn.
type Record interface {
	// Stream returns the stream as last saved. It must not be changed.
	Stream() *events.Stream
	// Save changes the stream and saves it, or does neither. It calls change again if another
	// process changed the conversation before the save.
	Save(change func(*events.Stream) error) error
	// Contents reads the blobs that the stream refers to.
	Contents() blobs.Reader
}

// Held returns the record of a conversation that is held. Moved is called with the fork in which
// the record goes on if the conversation was lost, see [workspace.LostError], and may be nil.
func Held(w *workspace.Workspace, h *workspace.Hold, moved func(workspace.Entry)) Record {
	return heldFrom(w, h, h.Conversation().Stream.Len(), moved)
}

// heldFrom is Held for a record that has already saved the elements from an index on.
func heldFrom(
	w *workspace.Workspace, h *workspace.Hold, from int, moved func(workspace.Entry),
) *held {
	return &held{
		workspace: w, hold: h, saved: h.Conversation().Stream, from: from, moved: moved,
	}
}

type held struct {
	workspace *workspace.Workspace
	hold      *workspace.Hold
	moved     func(workspace.Entry)

	saved *events.Stream // as last saved
	from  int            // index in it of the first element that this record saved
}

func (r *held) Stream() *events.Stream { return r.hold.Conversation().Stream }

func (r *held) Contents() blobs.Reader {
	return r.workspace.BlobsOf(r.hold.Conversation().Entry)
}

// Save implements [Record]. What was saved and is gone may be about to come back by itself, and is
// only appended again if it does not.
func (r *held) Save(change func(*events.Stream) error) error {
	err := r.save(change, false)
	if errors.Is(err, workspace.ErrAway) {
		err = r.save(change, true)
	}
	if _, lost := errors.AsType[*workspace.LostError](err); lost {
		return r.fork(change, err)
	}
	return err
}

// fork saves a change of a conversation that was lost in a fork of it.
func (r *held) fork(change func(*events.Stream) error, lost error) error {
	err := r.hold.Fork(func(c *workspace.Conversation) error { return change(c.Stream) })
	if err != nil {
		return errors.Join(lost, err)
	}
	r.saved = r.Stream()
	if r.moved != nil {
		r.moved(r.hold.Conversation().Entry)
	}
	return nil
}

func (r *held) save(change func(*events.Stream) error, restore bool) error {
	from := r.from
	err := r.hold.Update(func(c *workspace.Conversation) error {
		var gone []*events.Element
		from, gone = r.removed(c.Stream)
		if len(gone) > 0 && !restore {
			return workspace.ErrAway
		}
		c.Stream.Append(gone...)
		return change(c.Stream)
	})
	if err == nil {
		r.saved, r.from = r.Stream(), from
	}
	return err
}

// removed returns where in a stream, which may have been loaded again, the elements that this
// record saved begin, and which of them are to be appended: all if all were removed, as git stash
// and git checkout do, or the last if these were, as a failed git merge does. An answer is useless
// without its question.
func (r *held) removed(s *events.Stream) (from int, gone []*events.Element) {
	n := r.saved.Len()
	if s.Len() == n && (n == 0 || s.At(n-1) == r.saved.At(n-1)) {
		return r.from, nil
	}
	var ours []*events.Element
	for i := r.from; i < n; i++ {
		ours = append(ours, r.saved.At(i))
	}
	for i, e := range s.All() {
		// The user may have edited the text, so the bytes are not compared.
		if slices.ContainsFunc(ours, func(o *events.Element) bool {
			return o.Kind() == e.Kind() && o.Time().Equal(e.Time())
		}) {
			if there := s.Len() - i; there < len(ours) && beginsLike(s, i, ours) {
				return i, ours[there:]
			}
			return i, nil
		}
	}
	return s.Len(), ours
}

// beginsLike reports whether the elements of a stream from an index on are the first of others.
func beginsLike(s *events.Stream, from int, others []*events.Element) bool {
	for i := from; i < s.Len(); i++ {
		if s.At(i).Sum() != others[i-from].Sum() {
			return false
		}
	}
	return true
}

// newUnsaved returns a record that writes nothing to disk: saves stay in memory. It begins with the
// stream of n.
func newUnsaved(w *workspace.Workspace, n *workspace.NewConversation) Record {
	stream := n.Stream
	if stream == nil {
		stream = events.New()
	}
	return &unsaved{stream, w.BlobsOf(workspace.Entry{Local: n.Local})}
}

type unsaved struct {
	stream   *events.Stream
	contents blobs.Reader
}

func (r *unsaved) Stream() *events.Stream { return r.stream }

func (r *unsaved) Contents() blobs.Reader { return r.contents }

func (r *unsaved) Save(change func(*events.Stream) error) error {
	s := r.stream.Clone()
	if err := change(s); err != nil {
		return err
	}
	r.stream = s
	return nil
}

// A run is a group of elements at the end of a stream, such as the parts of an answer or the
// results of calls, which are ordered by their keys, not by their arrival. Elements are identified
// by their sums, because a save replaces elements whose content it stores.
type run struct {
	keys []int
	sums []blobs.Hash
}

// insert puts an element into the stream at the position that its key has in the run. The caller
// adds it to the run with [run.add] after the save.
func (r *run) insert(s *events.Stream, key int, e *events.Element) {
	for i, k := range r.keys {
		if k <= key {
			continue
		}
		if at := find(s, r.sums[i]); at >= 0 {
			s.Insert(at, e)
			return
		}
	}
	s.Append(e)
}

func (r *run) add(key int, e *events.Element) {
	at := len(r.keys)
	for at > 0 && r.keys[at-1] > key {
		at--
	}
	r.keys = slices.Insert(r.keys, at, key)
	r.sums = slices.Insert(r.sums, at, e.Sum())
}

// last returns the sum of the last element.
func (r *run) last() (blobs.Hash, bool) {
	if len(r.sums) == 0 {
		return blobs.Hash{}, false
	}
	return r.sums[len(r.sums)-1], true
}

// find returns the index of the last element with a sum, -1 if there is none.
func find(s *events.Stream, sum blobs.Hash) int {
	for i := s.Len() - 1; i >= 0; i-- {
		if s.At(i).Sum() == sum {
			return i
		}
	}
	return -1
}
