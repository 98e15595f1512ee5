package check

// A folder is what lies in a directory of a conversation: the files that are looked at, and whether
// there are others. Of tens of thousands a map of all names would take most of the memory.
type folder struct {
	files  []Entry
	others bool
}

// hold notes something in the directory. Of what comes twice the last counts.
func (f *folder) hold(e Entry) {
	for _, name := range [...]string{detailsFile, configFile, eventsFile, legacyFile, draftFile} {
		if e.Name != name {
			continue
		}
		e.Name = name // no part of a longer path, which would stay in memory
		for i := range f.files {
			if f.files[i].Name == name {
				f.files[i] = e
				return
			}
		}
		f.files = append(f.files, e)
		return
	}
	f.others = true
}

// file returns the entry of a file that is looked at; nil is a directory with nothing in it.
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
