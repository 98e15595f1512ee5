package events

import (
	"slices"
	"strconv"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// resources reads the resources of a request.
func (r *reader) resources() ([]Resource, *placedError) {
	m, ok := r.optional("resources")
	if !ok {
		return r.metadataResources(), nil
	}
	if !jsonspan.IsArray(m.Value(r.raw)) {
		return nil, errorAt(m.At, "resources: not an array")
	}
	return r.resourceArray(m.At)
}

// metadataResources reads the resources of a request in the inline form.
func (r *reader) metadataResources() []Resource {
	v, ok := r.meta.Value(metadataResources)
	if !ok || !jsonspan.IsArray(v) {
		return nil
	}
	sub := r.within(v, nil)
	resources, err := sub.resourceArray(0)
	if err != nil || sub.hasReference() {
		return nil
	}
	m, _ := jsonspan.Find(r.members, "metadata")
	for i := range sub.slots {
		sub.slots[i].legacy, sub.slots[i].offset = true, m.At
	}
	r.slots, r.view.resources = sub.slots, true
	return resources
}

func (r *reader) resourceArray(at int) ([]Resource, *placedError) {
	var resources []Resource
	used := r.used()
	for i, s := range jsonspan.Elements(r.raw, at) {
		r.free(used)
		m := jsonspan.Member{Name: "resource " + strconv.Itoa(i), Start: s.At, At: s.At, End: s.End}
		sub, err := r.sub(m)
		if err != nil {
			return nil, err
		}
		sub.slots = r.slots
		res, err := sub.contentfulResource(m, PartAttachment)
		if err != nil {
			return nil, err.in(m.Name)
		}
		r.slots = sub.slots
		resources = append(resources, res)
	}
	return resources, nil
}

// contentfulResource reads a resource with its content; m is its place in the element.
func (r *reader) contentfulResource(m jsonspan.Member, part Part) (Resource, *placedError) {
	raw := m.Value(r.raw)
	res, err := r.resource(raw[:len(raw):len(raw)])
	if err != nil {
		return Resource{}, err
	}
	c, at, err := r.oneContent(bareText, bareBlob)
	if err != nil {
		return Resource{}, err
	}
	if res.Content = c; !c.IsZero() {
		r.slots = append(r.slots, slot{part: part, uri: res.URI, content: c, offset: at.At})
	}
	if m, ok := r.optional("formatted"); ok {
		res.Formatted, err = r.formatted(m, res.URI)
	}
	return res, err
}

// resource reads the members that describe a resource.
func (r *reader) resource(raw []byte) (Resource, *placedError) {
	res := Resource{Raw: raw}
	var err *placedError
	if res.URI, err = r.string("uri"); err != nil {
		return res, err
	}
	for _, f := range []struct {
		name  string
		value *string
	}{
		{"mimeType", &res.MIMEType},
		{"name", &res.Name},
		{"title", &res.Title},
		{"description", &res.Description},
	} {
		if *f.value, err = r.optionalString(f.name); err != nil {
			return res, err
		}
	}
	if m, ok := r.optional("annotations"); ok {
		res.Annotations = jsonspan.Compact(m.Value(r.raw))
	}
	return res, nil
}

// formatted reads the text that replaces the content for a model: a content object, or a string as
// in RFD 058.
func (r *reader) formatted(m jsonspan.Member, uri string) (*blobs.Content, *placedError) {
	var c blobs.Content
	var err *placedError
	if jsonspan.IsString(m.Value(r.raw)) {
		c, err = r.inlineText(m)
	} else {
		c, err = r.content(m)
	}
	if err != nil {
		return nil, err
	}
	r.slots = append(r.slots, slot{part: PartFormatted, uri: uri, content: c, offset: m.At})
	return &c, nil
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
	r := &reader{raw: raw, members: jsonspan.Members(raw), options: DecodeOptions{MaxBlobBytes: -1}}
	res, err := r.contentfulResource(jsonspan.Member{End: len(raw)}, PartResource)
	return res, err == nil
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
