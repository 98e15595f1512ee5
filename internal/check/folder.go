package check

import "github.com/git-jp/git-jp/internal/workspace"

// A folder lists the files in a conversation's directory that a check reads, and records whether
// there are others. A map of all names would take most of the memory for tens of thousands of
// conversations.
type folder struct {
	files  []Entry
	others bool
}

// hold records a file in the directory. If a name occurs twice, the last entry counts.
func (f *folder) hold(e Entry) {
	for _, name := range [...]string{
		workspace.MetadataFile, workspace.BaseConfigFile, workspace.EventsFile,
		workspace.MessagesFile, workspace.DraftFile,
	} {
		if e.Name != name {
			continue
		}
		e.Name = name // not a part of the longer path, which it would keep in memory
		for i := range f.files {
			if f.files[i].Name == name {
				f.files[i] = e
				return
			}
		}
		f.files = append(f.files, e)
		return
	}
	// What file managers write is hidden. Git has it where somebody added it by mistake.
	f.others = f.others || e.Name[0] != '.'
}

// file returns the entry of a file that a check reads. A nil folder is an empty directory.
func (f *folder) file(name string) (Entry, bool) {
	if f != nil {
		for _, e := range f.files {
			if e.Name == name {
				return e, true
			}
		}
	}
	return Entry{}, false
}

// isLeft reports whether a directory is what git left of a conversation, because someone was in it
// or hidden files are, or what an editor created for a message that was never sent.
func (f *folder) isLeft() bool {
	if f == nil {
		return true
	}
	_, draft := f.file(workspace.DraftFile)
	return !f.others && (len(f.files) == 0 || draft && len(f.files) == 1)
}
