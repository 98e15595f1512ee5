package events

import (
	"slices"
	"strconv"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// resources reads the resources of a request.
func (r *reader) resources() []Resource {
	m, ok := r.optional("resources")
	if !ok {
		return r.metadataResources()
	}
	if !jsonspan.IsArray(m.Value(r.raw)) {
		r.fail(m.At, "resources: not an array")
		return nil
	}
	return r.resourceArray(m.At)
}

// metadataResources reads the resources of a request in the inline form.
func (r *reader) metadataResources() []Resource {
	v, ok := r.meta.Value(metadataResources)
	if !ok || !jsonspan.IsArray(v) {
		return nil
	}
	sub := r.beside(v)
	resources := sub.resourceArray(0)
	if sub.err != nil || sub.hasReference() {
		return nil
	}
	m, _ := jsonspan.Find(r.members, "metadata")
	for i := range sub.slots {
		sub.slots[i].legacy, sub.slots[i].offset = true, m.At
	}
	r.slots, r.view.resources = sub.slots, true
	return resources
}

func (r *reader) resourceArray(at int) []Resource {
	var resources []Resource
	used := len(r.memory)
	for i, s := range jsonspan.Elements(r.raw, at) {
		r.memory = r.memory[:used] // of the resource before
		m := jsonspan.Member{Name: "resource " + strconv.Itoa(i), Start: s.At, At: s.At, End: s.End}
		sub := r.sub(m)
		r.in(m.Name, func() {
			resources = append(resources, sub.contentfulResource(m, PartAttachment))
		})
	}
	return resources
}

// contentfulResource reads a resource with its content; m is its place in the element.
func (r *reader) contentfulResource(m jsonspan.Member, part Part) Resource {
	raw := m.Value(r.raw)
	res := r.resource(raw[:len(raw):len(raw)])
	c, at := r.oneContent(bareText, bareBlob)
	if res.Content = c; !c.IsZero() {
		r.slots = append(r.slots, slot{part: part, uri: res.URI, content: c, offset: at.At})
	}
	if m, ok := r.optional("formatted"); ok {
		res.Formatted = r.formatted(m, res.URI)
	}
	return res
}

// resource reads the members that describe a resource.
func (r *reader) resource(raw []byte) Resource {
	res := Resource{
		Raw: raw, URI: r.string("uri"), MIMEType: r.optionalString("mimeType"),
		Name: r.optionalString("name"), Title: r.optionalString("title"),
		Description: r.optionalString("description"),
	}
	if m, ok := r.optional("annotations"); ok {
		res.Annotations = jsonspan.Compact(m.Value(r.raw))
	}
	return res
}

// formatted reads the text that replaces the content for a model: a content object, or a string as
// in RFD 058.
func (r *reader) formatted(m jsonspan.Member, uri string) *blobs.Content {
	var c blobs.Content
	if jsonspan.IsString(m.Value(r.raw)) {
		c = r.inlineText(m)
	} else {
		c = r.content(m)
	}
	r.slots = append(r.slots, slot{part: PartFormatted, uri: uri, content: c, offset: m.At})
	return &c
}

func encodeResources(rs []Resource) []byte {
	return resourcesSource(rs).Append(nil, jsonspan.Compacted)
}

func encodeResource(res Resource) []byte {
	return appendResource(nil, res, jsonspan.Compacted)
}

// appendResource appends the resource, together with the members of its Raw that the codec does not
// know.
func appendResource(dst []byte, res Resource, depth int) []byte {
	after := contentfulFields(res)
	before, ok := decodeResource(res.Raw)
	if !ok {
		return jsonspan.AppendObject(dst, after, depth)
	}
	return jsonspan.AppendIndented(dst,
		jsonspan.Splice(res.Raw, contentfulFields(before), after, 0), depth)
}

// decodeResource reads a resource from raw.
func decodeResource(raw jsontext.Value) (Resource, bool) {
	if !jsonspan.IsObject(raw) || !jsonspan.IsValid(raw) {
		return Resource{}, false
	}
	unlimited := DecodeOptions{MaxBlobBytes: -1}
	r := &reader{raw, jsonspan.Members(raw), &reading{options: unlimited}}
	res := r.contentfulResource(jsonspan.Member{End: len(raw)}, PartResource)
	return res, r.err == nil
}

// contentfulFields returns the members of a resource, including its content.
func contentfulFields(res Resource) []jsonspan.Field {
	fs := resourceFields(res)
	content := contentField("content", res.Content, bareText, bareBlob)
	// As in MCP, the content follows the MIME type.
	return append(slices.Insert(fs, 2, content), contentField("formatted", formatted(res)))
}

// resourceFields returns the members that describe a resource.
func resourceFields(res Resource) []jsonspan.Field {
	return []jsonspan.Field{
		stringField("uri", res.URI),
		optionalString("mimeType", res.MIMEType),
		optionalJSON("annotations", res.Annotations),
		optionalString("name", res.Name),
		optionalString("title", res.Title),
		optionalString("description", res.Description),
	}
}

// formattedInside reports whether a resource was read with its formatted form inside it, not beside
// it in the block.
func formattedInside(raw jsontext.Value) bool {
	if !jsonspan.IsObject(raw) || !jsonspan.IsValid(raw) {
		return false
	}
	_, ok := jsonspan.Find(jsonspan.Members(raw), "formatted")
	return ok
}
