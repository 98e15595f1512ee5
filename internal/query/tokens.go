package query

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"

	"github.com/git-jp/git-jp/internal/llm"
)

// Bounds of what providers add to the text of a request, from recorded usage.
const (
	requestTokens = 120 // the frame, and instructions of the provider for reasoning or a schema
	toolsTokens   = 550 // the provider's own instructions, if there are tools
	frameTokens   = 10  // of a message, a part or a tool
)

// promptTokens returns an upper bound of the tokens in a request. It is pessimistic: a request is
// rather not sent than paid for beyond a limit.
func promptTokens(r *llm.Request) int64 {
	b := bound{tokens: requestTokens}
	b.text(string(r.Schema))
	for _, s := range r.System {
		b.text(s.Text)
	}
	for _, t := range r.Tools {
		b.tokens += frameTokens
		b.text(t.Name)
		b.text(t.Description)
		b.text(string(t.Schema))
	}
	if len(r.Tools) > 0 {
		b.tokens += toolsTokens
	}
	for _, m := range r.Messages {
		b.tokens += frameTokens
		for _, p := range m.Parts {
			b.part(p)
		}
	}
	return int64(b.percent/100) + b.tokens
}

// A bound adds up tokens.
type bound struct {
	percent int   // of a token, of text
	tokens  int64 // of everything else
}

// text adds the bound for each character: texts that few words make up, such as numbers, hashes and
// base64, have more tokens than prose, and rare scripts one for each byte.
func (b *bound) text(s string) {
	for _, r := range s {
		b.percent += percentOf(r)
	}
}

func percentOf(r rune) int {
	switch {
	case 'a' <= r && r <= 'z':
		return 45
	case r == ' ', r == '\n', r == '\t', r == '\r':
		return 60
	case '0' <= r && r <= '9', 'A' <= r && r <= 'Z':
		return 100
	case r < 0x800: // marks, and scripts of two bytes
		return 120
	case 0x3040 <= r && r < 0xA000, 0xAC00 <= r && r < 0xD7B0: // Chinese, Japanese, Korean
		return 160
	case r < 0x10000:
		return 320
	default:
		return 360
	}
}

func (b *bound) part(p llm.Part) {
	b.tokens += frameTokens
	switch p := p.(type) {
	case llm.Text:
		b.text(p.Text)
	case llm.Reasoning:
		b.text(p.Text)
		b.tokens += hiddenTokens(p)
	case llm.Data:
		b.text(string(p.Value))
	case llm.Opaque:
		b.text(string(p.JSON))
	case llm.Call:
		b.text(p.ID)
		b.text(p.Name)
		b.text(string(p.Args))
	case llm.Result:
		b.text(p.CallID)
		for _, q := range p.Parts {
			b.part(q)
		}
	case llm.Resource:
		b.text(p.URI)
		b.text(p.Text)
		b.binary(p.MIME, p.Bytes)
	case llm.Media:
		b.binary(p.MIME, p.Bytes)
	}
}

func (b *bound) binary(mime string, data []byte) {
	if len(data) > 0 {
		_, most := mediaTokens(mime, data)
		b.tokens += most
	}
}

// hiddenTokens returns a bound for reasoning of which the text is only a summary: the provider has
// all of it in what it signed or encrypted, as base64.
func hiddenTokens(p llm.Reasoning) (n int64) {
	for _, key := range p.Metadata.Keys() {
		v, _ := p.Metadata.Value(key)
		n += int64(len(v)) / 3
	}
	return n
}

// Tokens of pictures and of pages of documents: the usual number and the most, by the providers'
// documentation. Pages are sent as their text with a picture of them.
const (
	imageTokens, mostImageTokens = 1500, 5000
	pageTokens, mostPageTokens   = 3000, 8000

	bytesPerSoundToken = 500 // usually
)

// leastBytesPerToken is a bound for content of which no more is known.
const leastBytesPerToken = 2

// mediaTokens returns how many tokens a picture, a document or a sound usually has, and at most.
func mediaTokens(mime string, data []byte) (usual, most int64) {
	size := int64(len(data))
	switch {
	case llm.IsImage(mime):
		return imageTokens, mostImageTokens
	case llm.IsPDF(mime):
		if pages := pdfPages(data); pages > 0 {
			return pages * pageTokens, pages * mostPageTokens
		}
		return imageTokens, max(size/leastBytesPerToken, mostPageTokens)
	default:
		return max(size/bytesPerSoundToken, 1), max(size/leastBytesPerToken, 1)
	}
}

var (
	pdfPage    = regexp.MustCompile(`/Type\s*/Page[^s\w]`)
	pdfObjects = regexp.MustCompile(`/ObjStm[^>]*(?:>[^>]+)*>>\s*stream\r?\n`)
)

// maxObjects limits how much of a document's objects is decompressed.
const maxObjects = 64 << 20

// pdfPages counts the pages of a document, of whose objects many are compressed. It returns 0 if it
// finds none.
func pdfPages(data []byte) (n int64) {
	n = int64(len(pdfPage.FindAllIndex(data, -1)))
	left := int64(maxObjects)
	for _, at := range pdfObjects.FindAllIndex(data, -1) {
		z, err := zlib.NewReader(bytes.NewReader(data[at[1]:]))
		if err != nil {
			continue
		}
		objects, _ := io.ReadAll(io.LimitReader(z, left)) // as far as it goes
		left -= int64(len(objects))
		n += int64(len(pdfPage.FindAllIndex(objects, -1)))
	}
	return n
}
