package gitint_test

import "testing"

// TestCommittedHere checks that a file counts if a commit made in this clone gave it its content,
// and not if the content came here in any other way.
func TestCommittedHere(t *testing.T) {
	r := committed(t, map[string]string{"justfile": "first\n", "other": "1\n"})
	here := func(why string, want bool) {
		t.Helper()
		got, err := openAt(t, r).CommittedHere(t.Context(), "justfile")
		if err != nil || got != want {
			t.Errorf("%s: %t (%v), want %t", why, got, err, want)
		}
	}
	here("the first commit", true)
	r.WriteFile("justfile", "second\n")
	here("not committed", false)
	r.Commit("mine")
	here("committed", true)
	r.Run("commit", "-q", "--amend", "-m", "mine, in other words")
	here("amended", true)

	r.Run("branch", "base")
	theirs := t.TempDir()
	r.Run("clone", "-q", r.Dir, theirs)
	r.Run("-C", theirs, "config", "user.name", "A U Thor")
	r.Run("-C", theirs, "config", "user.email", "author@example.com")
	r.Run("-C", theirs, "checkout", "-q", "base")
	r.Run("-C", theirs, "rm", "-q", "other")
	r.Run("-C", theirs, "mv", "justfile", "moved")
	r.Run("-C", theirs, "commit", "-qm", "commit: mine")
	r.Run("-C", theirs, "mv", "moved", "justfile")
	r.WriteFile("away", "evil\n")
	r.Run("-C", theirs, "hash-object", "-w", r.Dir+"/away")
	id := r.Run("-C", theirs, "hash-object", r.Dir+"/away")
	r.Run("-C", theirs, "update-index", "--add", "--cacheinfo", "100644,"+id+",justfile")
	r.Run("-C", theirs, "commit", "-qm", "commit (amend): mine")

	r.Run("pull", "-q", "--ff-only", theirs, "base")
	here("pulled", false)
	r.WriteFile("more", "1\n")
	r.Commit("on top of it")
	here("a commit on top", false)
	r.Run("commit", "-q", "--amend", "-m", "on top of it, amended")
	here("an amended commit on top", false)
	r.Run("reset", "-q", "--hard", "FETCH_HEAD")
	r.Run("commit", "-q", "--amend", "-m", "their commit, amended")
	here("their commit, amended", false)
	r.WriteFile("justfile", "third\n")
	r.Run("commit", "-q", "--amend", "-am", "their commit, changed")
	here("their commit, changed", true)

	r.WriteFile("justfile", "second\n")
	here("back to what was committed once", true)

	r.WriteFile("justfile", "v='$Id$'\n")
	r.Commit("with a place for an id")
	r.WriteFile(".gitattributes", "justfile ident\n")
	r.WriteFile("justfile", "v='$Id: a b '; evil; '$'\n")
	here("what git would commit as the same", false)

	r.Run("config", "core.autocrlf", "true")
	r.WriteFile("justfile", "from\r\nWindows\r\n")
	r.Commit("with an editor of Windows")
	here("with the line ends of the user's git", true)
	r.WriteFile("justfile", "from\nWindows\r\n")
	here("with some of them", false)
	r.Run("config", "core.autocrlf", "input")
	r.WriteFile("justfile", "from\r\nWindows\r\n")
	here("with line ends that a checkout would not give", false)
	if got, err := openAt(t, r).CommittedHere(t.Context(), "never"); err == nil && got {
		t.Error("a file that is not there is one's own")
	}
}
