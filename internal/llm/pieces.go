package llm

import (
	"encoding/base64"
	"path"
	"strings"
)

// Pieces makes of what a user says and attaches what goes on the wire of a provider, for whom
// a T is one piece of content. It is for one request.
type Pieces[T any] struct {
	Text func(text string) T
	// File returns the pieces of what is no text, or an [*UnsupportedError].
	File func(f File) ([]T, error)

	shown int // files so far
}

// Files returns what was attached together: texts in one document, then the others. What the
// provider does not take is an error in the last message only: a conversation must not be
// stuck on what was attached to it earlier.
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

// Looks returns what a tool returned to look at, as far as the provider takes it, for formats
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

// DataURL returns bytes as a URL.
func DataURL(mime string, data []byte) string {
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// PDFName returns a name for a PDF, with the ending by which providers know its kind.
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
