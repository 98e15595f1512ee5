package events

// MetadataAttached is the key under which a request lists the attachments whose resources it has.
// The URIs of the resources do not show which pattern, command or directory they came from.
const MetadataAttached = MetadataPrefix + "attached"

// Dropped reports whether a request lacks the resources of the attachments that it lists: jp, which
// does not know resources, keeps the list and saves the request without them. Those whose content
// was removed here are listed as stripped, and those of inline workspaces are in the metadata.
func (e *Element) Dropped() bool {
	r, ok := e.Event().(*ChatRequest)
	if !ok || len(r.Resources) > 0 {
		return false
	}
	_, attached := e.meta.find(MetadataAttached)
	_, stripped := e.meta.find(metadataStripped)
	return attached && !stripped
}
