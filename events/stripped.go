package events

import (
	"slices"

	"github.com/git-jp/git-jp/internal/jsonspan"
)

// WithStripped returns m with rs added to the resources whose content was removed from the event.
// Their descriptions are kept, but not their content: a stripped resource never refers to a blob.
func (m Metadata) WithStripped(rs ...Resource) Metadata {
	all := slices.Concat(m.Stripped(), rs)
	for i := range all {
		all[i] = all[i].withoutContent()
	}
	if len(all) == 0 {
		return m
	}
	return m.With(metadataStripped, encodeResources(all))
}

// Stripped returns the resources whose content was removed from the event.
func (m Metadata) Stripped() []Resource {
	v, ok := m.Value(metadataStripped)
	if !ok || !jsonspan.IsArray(v) {
		return nil
	}
	var rs []Resource
	for _, s := range jsonspan.Elements(v, 0) {
		if res, ok := decodeResource(v[s.At:s.End]); ok {
			rs = append(rs, res.withoutContent())
		}
	}
	return rs
}

func (res Resource) withoutContent() Resource {
	bare := Resource{
		URI: res.URI, MIMEType: res.MIMEType, Name: res.Name, Title: res.Title,
		Description: res.Description, Annotations: res.Annotations, Raw: res.Raw,
	}
	bare.Raw = encodeResource(bare)
	return bare
}
