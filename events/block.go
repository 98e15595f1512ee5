package events

import (
	"slices"
	"strconv"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// Names of bare content, without a "content" wrapper, as in MCP and RFD 058.
const (
	bareText = "text"
	bareBlob = "blob"
	bareData = "data" // of image and audio blocks
)

// legacyBlock returns the text block for a result in jp's form.
func legacyBlock(quoted jsontext.Value) Block {
	return Block{
		Type: BlockText, Raw: quoted,
		Content: blobs.Loaded(decodeResult(jsonspan.Unquote(quoted))),
	}
}

// isLegacy reports whether the block was read from a result in jp's form and still has the same
// content.
func (b Block) isLegacy() bool {
	return jsonspan.IsString(b.Raw) && b.Type == BlockText && !b.Content.IsRef() &&
		string(loadedBytes(b.Content)) == string(decodeResult(jsonspan.Unquote(b.Raw)))
}

// blocks reads the content of a tool's result.
func (r *reader) blocks() []Block {
	m := r.required("content")
	switch v := m.Value(r.raw); {
	case jsonspan.IsString(v):
		return r.legacyBlocks(m)
	case jsonspan.IsArray(v):
		return r.blockArray(m.At)
	default:
		r.fail(m.At, "content: neither a string nor an array")
		return nil
	}
}

// legacyBlocks reads a result in jp's form. If the metadata holds the blocks that the text was
// rendered from, they are the result, unless the text was edited since.
func (r *reader) legacyBlocks(m jsonspan.Member) []Block {
	block := legacyBlock(m.Value(r.raw))
	if blocks, slots, ok := r.metadataBlocks(block.Content); ok {
		for i := range slots {
			slots[i].legacy, slots[i].offset = true, m.At
		}
		r.slots, r.view.blocks = slots, true
		return blocks
	}
	r.slots = []slot{{part: PartText, content: block.Content, legacy: true, offset: m.At}}
	return []Block{block}
}

func (r *reader) metadataBlocks(rendered blobs.Content) ([]Block, []slot, bool) {
	v, ok := r.meta.Value(metadataBlocks)
	if !ok || !jsonspan.IsArray(v) {
		return nil, nil, false
	}
	sub := r.beside(v)
	blocks := sub.blockArray(0)
	if sub.err != nil || sub.hasReference() {
		return nil, nil, false
	}
	now, _ := (&ToolCallResponse{Blocks: blocks}).Text(nil) // cannot fail: there is no blob to read
	return blocks, sub.slots, inUTF8(now) == string(loadedBytes(rendered))
}

// hasReference reports whether the event refers to a blob. The inline form has no references.
func (r *reader) hasReference() bool {
	return slices.ContainsFunc(r.slots, func(s slot) bool { return s.content.IsRef() })
}

// blockArray reads the array of blocks at raw[at].
func (r *reader) blockArray(at int) []Block {
	spans := jsonspan.Elements(r.raw, at)
	blocks := make([]Block, 0, len(spans))
	used := len(r.memory)
	for i, s := range spans {
		if r.err != nil {
			return nil
		}
		r.memory = r.memory[:used] // of the block before
		blocks = append(blocks, r.block(s))
		if r.err != nil {
			r.err = r.err.in("content block " + strconv.Itoa(i))
		}
	}
	return blocks
}

func (r *reader) block(s jsonspan.Span) Block {
	b := Block{Raw: r.raw[s.At:s.End:s.End]}
	if !jsonspan.IsObject(b.Raw) {
		r.fail(s.At, "not an object")
		return b
	}
	sub := r.objectAt(s.At)
	b.Type = BlockType(sub.word("type"))
	sub.fill(&b)
	return b
}

// fill reads the members that blocks of b's type have.
func (r *reader) fill(b *Block) {
	switch b.Type {
	case BlockText:
		r.fillContent(b, PartText, bareText, "")
	case BlockImage, BlockAudio:
		b.MIMEType = r.optionalString("mimeType")
		r.fillContent(b, Part(b.Type), "", bareData)
	case BlockResource:
		r.fillResource(b)
	case BlockResourceLink:
		b.Resource = new(r.resource(nil)) // the link is the block itself
	}
}

func (r *reader) fillContent(b *Block, part Part, bareText, bareBinary string) {
	c, m := r.oneContent(bareText, bareBinary)
	if c.IsZero() {
		r.fail(r.start(), "a %s block without content", b.Type)
	}
	b.Content = c
	r.slots = append(r.slots, slot{part: part, content: c, offset: m.At})
}

func (r *reader) fillResource(b *Block) {
	m := r.required("resource")
	sub, res := r.sub(m), Resource{}
	r.in("resource", func() { res = sub.contentfulResource(m, PartResource) })
	if outer, ok := r.optional("formatted"); ok {
		if res.Formatted != nil {
			r.fail(outer.Start, "formatted stands in the block and in its resource")
		}
		res.Formatted = r.formatted(outer, res.URI)
	}
	b.Resource = &res
}

// encodeBlocks returns the content of a tool's result: the string it was read from if it is
// unchanged, otherwise an array of blocks.
func encodeBlocks(blocks []Block) []byte { return appendBlocks(nil, blocks, jsonspan.Compacted) }

func appendBlocks(dst []byte, blocks []Block, depth int) []byte {
	if len(blocks) == 1 && blocks[0].isLegacy() {
		return jsonspan.AppendIndented(dst, blocks[0].Raw, depth)
	}
	return jsonspan.AppendArray(dst, blocks, depth, appendBlock)
}

// appendBlock appends the block, together with the members of its Raw that the codec does not know.
// If the type has changed, Raw belongs to another block and is not used.
func appendBlock(dst []byte, b Block, depth int) []byte {
	after := blockFields(b)
	before, ok := decodeBlock(b.Raw)
	if !ok || before.Type != b.Type {
		return jsonspan.AppendObject(dst, after, depth)
	}
	return jsonspan.AppendIndented(dst,
		jsonspan.Splice(b.Raw, blockFields(before), after, 0), depth)
}

// decodeBlock reads a block from raw.
func decodeBlock(raw jsontext.Value) (Block, bool) {
	if !jsonspan.IsObject(raw) || !jsonspan.IsValid(raw) {
		return Block{}, false
	}
	r := &reader{raw, nil, &reading{options: DecodeOptions{MaxBlobBytes: -1}}}
	b := r.block(jsonspan.Span{At: 0, End: len(raw)})
	return b, r.err == nil
}

func blockFields(b Block) []jsonspan.Field {
	fs := []jsonspan.Field{stringField("type", string(b.Type))}
	switch b.Type {
	case BlockText:
		return append(fs, contentField("content", b.Content, bareText))
	case BlockImage, BlockAudio:
		return append(fs, optionalString("mimeType", b.MIMEType),
			contentField("content", b.Content, bareData))
	case BlockResource:
		return append(fs, resourceBlockFields(b.Resource)...)
	case BlockResourceLink:
		if b.Resource != nil {
			fs = append(fs, resourceFields(*b.Resource)...)
		}
	}
	return fs
}

func resourceBlockFields(res *Resource) []jsonspan.Field {
	if res == nil {
		return nil
	}
	resource, beside := *res, jsonspan.Field{Name: "formatted"}
	if !formattedInside(resource.Raw) {
		beside = contentField("formatted", formatted(resource))
		resource.Formatted = nil
	}
	return []jsonspan.Field{{Name: "resource", From: resourceSource(resource)}, beside}
}
