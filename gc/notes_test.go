package gc_test

import "github.com/git-jp/git-jp/blobs"

// notesRows returns the rows of the root matrix in which a note is a stream.
func notesRows() []row {
	return []row{
		{"note that is a stream", func(f *fixture, h blobs.Hash) { f.note(h) }},
		{"note that was fetched", func(f *fixture, h blobs.Hash) {
			f.note(h)
			f.Run("fetch", "-q", ".", "refs/notes/commits")
			f.forgetNotes()
		}},
		{"note of a remote", func(f *fixture, h blobs.Hash) {
			f.note(h)
			f.Run("update-ref", "refs/remotes/origin/notes/commits", "refs/notes/commits")
			f.forgetNotes()
		}},
		{"note in a directory, of a remote", func(f *fixture, h blobs.Hash) {
			id := f.Run("rev-parse", "HEAD")
			c := f.commitFile(id[:2]+"/"+id[2:4]+"/"+id[4:], stream(h))
			f.Run("update-ref", "refs/remotes/origin/notes/commits", c)
		}},
		{"conflict of notes", func(f *fixture, h blobs.Hash) {
			f.Run("notes", "--ref", "theirs", "add", "-m", "another")
			f.note(h)
			_, _ = f.Try("notes", "--ref", "theirs", "merge", "refs/notes/commits") // it stops
			f.Remove(".git/NOTES_MERGE_PARTIAL")
			f.forgetNotes()
		}},
		{"merged notes beside a conflict", func(f *fixture, h blobs.Hash) {
			f.Run("commit", "-q", "--allow-empty", "-m", "another")
			f.Run("notes", "--ref", "theirs", "add", "-m", "another", "HEAD")
			f.Run("notes", "add", "-m", "one", "HEAD")
			f.noteOf("HEAD~1", h)
			_, _ = f.Try("notes", "--ref", "theirs", "merge", "refs/notes/commits") // it stops
			f.forgetNotes()
		}},
	}
}

// note makes a stream a note of HEAD.
func (f *fixture) note(h blobs.Hash) { f.noteOf("HEAD", h) }

func (f *fixture) noteOf(commit string, h blobs.Hash) {
	id := f.RunInput(stream(h), "hash-object", "-w", "--stdin")
	f.Run("notes", "add", "-C", id, commit)
}

// forgetNotes removes the ref of the notes.
func (f *fixture) forgetNotes() {
	f.Run("update-ref", "-d", "refs/notes/commits")
	f.Remove(".git/logs/refs/notes")
}
