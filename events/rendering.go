package events

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// Text returns the result as text, for models that accept nothing else. Each block is rendered, and
// two blocks are separated by a blank line ("\n\n"), even if one is empty:
//
//   - text: its bytes, so a result that is a single text is returned unchanged;
//   - resource: its formatted form if it has one; otherwise its content if that is text,
//     which means UTF-8 without NUL and a MIME type other than image/, audio/ and video/
//     (image/svg+xml is text); otherwise a placeholder;
//   - image, audio, resource_link: a placeholder;
//   - question: the text of the question;
//   - any other: a placeholder.
//
// A placeholder is "[resource <uri> (<mime type>, <size> bytes)]", with the type of the block in
// place of "resource" and unknown parts left out, for example "[image (image/png, 512 bytes)]" or
// "[resource_link https://a.example/]".
//
// References are read through rd, and only if their content is shown.
func (r *ToolCallResponse) Text(rd blobs.Reader) (string, error) {
	var b strings.Builder
	for i, block := range r.Blocks {
		if i > 0 {
			b.WriteString("\n\n")
		}
		s, err := block.text(rd)
		if err != nil {
			return "", fmt.Errorf("content block %d: %w", i, err)
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

func (b Block) text(rd blobs.Reader) (string, error) {
	switch b.Type {
	case BlockText:
		return contentText(b.Content, rd)
	case BlockQuestion:
		return b.question(), nil
	case BlockImage, BlockAudio:
		return placeholder(string(b.Type), Resource{MIMEType: b.MIMEType, Content: b.Content}), nil
	case BlockResource, BlockResourceLink:
		if b.Resource != nil {
			return b.Resource.text(string(b.Type), rd)
		}
	}
	return placeholder(string(b.Type), Resource{}), nil
}

func (res *Resource) text(kind string, rd blobs.Reader) (string, error) {
	if res.Formatted != nil {
		return contentText(*res.Formatted, rd)
	}
	if !res.Content.IsZero() && isTextType(res.MIMEType) {
		s, err := contentText(res.Content, rd)
		if err != nil || utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
			return s, err
		}
	}
	return placeholder(kind, *res), nil
}

// isTextType reports whether content of a MIME type may be text. If not, the content need not be
// read.
func isTextType(mime string) bool {
	for _, prefix := range []string{"image/", "audio/", "video/"} {
		if strings.HasPrefix(mime, prefix) {
			return strings.HasPrefix(mime, "image/svg+xml")
		}
	}
	return true
}

func contentText(c blobs.Content, rd blobs.Reader) (string, error) {
	if c.IsZero() {
		return "", nil
	}
	b, err := c.Bytes(rd)
	return string(b), err
}

func placeholder(kind string, res Resource) string {
	s := "[" + kind
	if res.URI != "" {
		s += " " + res.URI
	}
	var about []string
	if res.MIMEType != "" {
		about = append(about, res.MIMEType)
	}
	if !res.Content.IsZero() {
		about = append(about, fmt.Sprintf("%d bytes", res.Content.Size()))
	}
	if about != nil {
		s += " (" + strings.Join(about, ", ") + ")"
	}
	return s + "]"
}

// question returns the text of a question block. RFD 058 keeps it in an object.
func (b Block) question() string {
	for _, holder := range []jsontext.Value{jsonspan.MemberOf(b.Raw, "question"), b.Raw} {
		if v := jsonspan.MemberOf(holder, "text"); jsonspan.IsString(v) {
			return jsonspan.Text(v)
		}
	}
	return ""
}
