package workspace

// Title returns a conversation's title, "" if it has none or cannot be read.
func (w *Workspace) Title(e Entry) string {
	d, err := w.LoadDetails(e)
	if err != nil || d.Title == nil {
		return ""
	}
	return *d.Title
}
