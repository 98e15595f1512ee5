package dedup

import (
	"fmt"

	"github.com/git-jp/git-jp/blobs"
)

// digits is how many digits of a checksum a message shows.
const digits = 12

func checksum(h blobs.Hash) string { return "sha256:" + h.String()[:digits] }

// reference returns the message of RFD 067 for f, whose content was delivered whole as d.
func (p *planner) reference(f found, d *delivered) string {
	head := fmt.Sprintf("The content of %s is identical to %s (checksum: %s)."+
		" The file has not changed.",
		p.spell(f.resource.URI), d.where(), checksum(f.resource.Content.Ref().Hash))
	if d.attached {
		return head + " Refer to the attached content."
	}
	return head + " Refer to that earlier result for the full contents."
}

func (p *planner) spell(uri string) string {
	if p.options.URI == nil {
		return uri
	}
	return p.options.URI(uri)
}

// where describes a delivery for the model.
func (d *delivered) where() string {
	if d.attached {
		return fmt.Sprintf("the attachment at turn %d", d.turn+1)
	}
	return fmt.Sprintf("the result of tool call `%s` in turn %d", d.call, d.turn+1)
}
