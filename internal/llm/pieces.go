package llm

import (
	"encoding/base64"
	"path"
	"strings"
)

// Pieces converts the user's text and attachments into pieces of content in a provider's format, of
// type T. It serves one request.
type Pieces[T any] struct {
	Text func(text string) T
	// File returns the pieces for content that is not text, or an [*UnsupportedError].
	File func(f File) ([]T, error)

	shown int // number of files so far
}

// Files returns the pieces for parts that were attached together: texts in one document, then the
// others. Unsupported content is an error in the last message only: an earlier attachment must not
// block the conversation.
func (p *Pieces[T]) Files(parts []Part, last bool) ([]T, error) {
	var texts []Resource
	var list []T
	for _, part := range parts {
		if r, ok := part.(Resource); ok && r.Bytes == nil {
			texts = append(texts, r)
			continue
		}
		more, err := p.File(FileOf(part))
		if err != nil && last {
			return nil, err
		}
		if err != nil {
			more = []T{p.Text(plainPart(part))}
		}
		list = append(list, more...)
	}
	if len(texts) > 0 {
		list = append([]T{p.Text(Documents(texts, p.shown))}, list...)
	}
	p.shown += len(parts)
	return list, nil
}

// Said returns the texts and files of a message in their order, without its results.
func (p *Pieces[T]) Said(m Message, last bool) ([]T, error) {
	var said []T
	var files []Part
	flush := func() error {
		list, err := p.Files(files, last)
		said, files = append(said, list...), nil
		return err
	}
	for _, part := range m.Parts {
		switch part := part.(type) {
		case Resource, Media:
			files = append(files, part)
		case Text:
			if err := flush(); err != nil {
				return nil, err
			}
			if strings.TrimSpace(part.Text) != "" {
				said = append(said, p.Text(part.Text))
			}
		}
	}
	return said, flush()
}

// Looks returns the images and files of a result as far as the provider accepts them, for formats
// in which a result is text.
func (p *Pieces[T]) Looks(r Result) []T {
	var looks []T
	for _, part := range r.Parts {
		f := FileOf(part)
		if f.Bytes == nil {
			continue
		}
		if list, err := p.File(f); err == nil {
			looks = append(looks, list...)
		}
	}
	return looks
}

// DataURL returns bytes as a data URL.
func DataURL(mime string, data []byte) string {
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// PDFName returns a file name for a PDF, with the extension by which providers recognize the type.
func PDFName(name string) string {
	base := path.Base(name)
	if name == "" {
		base = "document"
	}
	if !strings.HasSuffix(strings.ToLower(base), ".pdf") {
		base += ".pdf"
	}
	return base
}
