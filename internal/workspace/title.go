package workspace

// Title returns a conversation's title, "" if it has none or cannot be read.
func (w *Workspace) Title(e Entry) string {
	d, _ := w.LoadDetails(e)
	return d.Name()
}
