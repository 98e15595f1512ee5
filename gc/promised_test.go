package gc_test

import (
	"context"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
)

// promise makes the repository a partial clone, in which only the remote has an object.
func (f *fixture) promise(rev string) {
	f.Run("config", "remote.origin.promisor", "true")
	f.lose(rev)
}

// other creates a branch at a commit.
func (f *fixture) other(commit string) { f.Run("branch", "other", commit) }

// TestPromisedFiles omits from a partial clone each file that a mark or a second opinion reads: a
// collection is refused and names the file.
func TestPromisedFiles(t *testing.T) {
	const stream, metadata = conversation + "/events.json", conversation + "/metadata.json"
	for _, tt := range []struct {
		name string
		make func(f *fixture)
		want string
	}{
		{"a stream of a branch", func(f *fixture) {
			f.other(f.commit(blobs.Sum(nil)))
			f.promise("other:" + stream)
		}, "refs/heads/other:" + stream},
		{"what only the second opinion reads of it", func(f *fixture) {
			f.other(f.commitFile(metadata, "{}"))
			f.promise("other:" + metadata)
		}, metadata},
		{"what is in the store and is no blob", func(f *fixture) {
			f.other(f.commitFile(".jp/blobs/note/text", "x"))
			f.promise("other:.jp/blobs/note/text")
		}, ".jp/blobs/note/text"},
		{"a stream long past", func(f *fixture) {
			f.other(f.Run("commit-tree", "-m", "x", "-p", f.commit(blobs.Sum(nil)), "HEAD^{tree}"))
			f.promise("other~1:" + stream)
		}, stream},
		{"a stream without a directory .jp", func(f *fixture) {
			f.other(f.commitFile("kept/events.json", "[]"))
			f.promise("other:kept/events.json")
		}, "refs/heads/other:kept/events.json"},
		{"a file of a directory of conversations", func(f *fixture) {
			f.other(f.commitFile("conversations/one/copy", "[]"))
			f.promise("other:conversations/one/copy")
		}, "refs/heads/other:conversations/one/copy"},
		{"a part of a directory .jp that is a ref", func(f *fixture) {
			f.Run("update-ref", "refs/part", f.Run("rev-parse", f.commit(blobs.Sum(nil))+":"+
				conversation))
			f.promise("refs/part:events.json")
		}, "refs/part:events.json"},
		{"a file that is a ref", func(f *fixture) {
			f.Run("update-ref", "refs/file", f.RunInput("x", "hash-object", "-w", "--stdin"))
			f.promise("refs/file")
		}, ""},
		{"a note", func(f *fixture) {
			f.Run("notes", "add", "-m", "noted", "HEAD")
			f.promise("refs/notes/commits:" + f.Run("rev-parse", "HEAD"))
		}, "refs/notes/commits:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reason := gc.ReasonPromised
			if tt.want == "" {
				reason = gc.ReasonObject // a remote promises no ref without its object
			}
			newFixture(t).refuses(tt.make, reason, tt.want)
		})
	}
}

// TestPromisedProject checks that files of the project are not needed: they refer to no blob.
func TestPromisedProject(t *testing.T) {
	f := newFixture(t)
	dead := f.blob("dead")
	f.other(f.commitFile("src/main.go", "package main", "notes.md", "x"))
	f.promise("other:src/main.go")
	f.lose("other:notes.md")
	if _, err := f.collect(); err != nil || f.has(dead) {
		t.Errorf("collect: %v, has the dead blob %v", err, f.has(dead))
	}
}

// TestPromisedCarrier checks that a blob is kept if its only other copy may be at a remote.
func TestPromisedCarrier(t *testing.T) {
	f := newFixture(t)
	kept, dead := f.blob("kept"), f.blob("dead")
	name := ".jp/blobs/" + kept.Path()
	c := f.commitFile(conversation+"/events.json", stream(kept), name, f.ReadFile(name))
	f.other(f.Run("commit-tree", "-m", "x", "-p", c, "HEAD^{tree}"))
	f.promise(c + ":" + name)
	if _, err := f.collect(); err != nil || !f.has(kept) || f.has(dead) {
		t.Errorf("collect: %v, has %v and %v, want true and false", err, f.has(kept), f.has(dead))
	}
}

// TestPromisedIdle checks that nothing is needed if everything is newer than the grace period.
func TestPromisedIdle(t *testing.T) {
	f := newFixture(t)
	f.WriteFile(".jp/blobs/"+blobs.Sum([]byte("new")).Path(), string(blobs.Encode([]byte("new"))))
	f.grace = now.Sub(old)
	f.other(f.commit(blobs.Sum(nil)))
	f.promise("other:" + conversation + "/events.json")
	p, err := gc.MakePlan(t.Context(), f.options())
	if err != nil || !p.Empty() || !p.Unmarked || p.Young != 1 {
		t.Errorf("the plan is %+v, %v", p, err)
	}
}

// TestPromisedFetch checks that there is one request, for the missing objects of both tips and
// history, and none in a sweep.
func TestPromisedFetch(t *testing.T) {
	f := newFixture(t)
	dead := f.blob("dead")
	past := f.commit(blobs.Sum(nil))
	f.other(f.Run("commit-tree", "-m", "x", "-p", past, f.commitFile(
		conversation+"/events.json", stream(), "x", "y")+"^{tree}"))
	lost := []string{
		past + ":" + conversation + "/events.json",
		"other:" + conversation + "/events.json",
	}
	var data, want []string
	for _, rev := range lost {
		data, want = append(data, f.Run("cat-file", "blob", rev)+"\n"),
			append(want, f.Run("rev-parse", rev))
	}
	f.promise(lost[0])
	f.lose(lost[1])
	o, calls := f.options(), 0
	o.Fetch = func(_ context.Context, ids []gitint.OID) error {
		calls++
		var asked []string
		for _, id := range ids {
			asked = append(asked, id.String())
		}
		slices.Sort(asked)
		slices.Sort(want)
		if !slices.Equal(asked, want) {
			t.Errorf("fetches %v, want %v", asked, want)
		}
		for _, text := range data {
			f.RunInput(text, "hash-object", "-w", "--stdin")
		}
		return nil
	}
	p, err := gc.MakePlan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	f.lose(lost[1])
	if _, err = gc.Sweep(t.Context(), o, p); err == nil || !f.has(dead) {
		t.Errorf("swept without what was fetched: %v", err)
	}
	f.RunInput(data[1], "hash-object", "-w", "--stdin")
	if _, err = gc.Sweep(t.Context(), o, p); err != nil || f.has(dead) || calls != 1 {
		t.Errorf("sweep: %v, has the dead blob %v, %d calls", err, f.has(dead), calls)
	}
}
