// Package dedup decides what of a conversation a model need not be given again
// (RFD 067): a resource that it already has is replaced by a short message that says
// where it is.
//
// # What it keeps true
//
// A resource is the same when its canonical URI and the SHA-256 of its content are.
// A reference names a delivery that stands whole in the same request, one hop away:
// a delivery that was itself shortened is never a referent. The latest one counts.
//
// What stands at an element depends on earlier elements alone, or on the other results
// of one batch of parallel calls, which are sent together. So a request that grows
// keeps the bytes that were sent. A decision that options or the model's conduct had a
// part in is stored with the event, see [Mark], and kept for as long as what it refers
// to is there.
//
// A model that asks again for what it was answered by a reference gets the content.
//
// Line runs reconstruct exactly: their message says for each line of the content
// which line of a referent it is, or holds the line itself. Their referents are deliveries of
// the same file, whichever lines of it, and numbers before lines are no part of them.
//
// Time is linear in the resources and, where lines are compared, in their size.
//
// A result is superseded when a later one has all that it had, as a [Rule] understands the two
// calls. On calls that show something, having all is a partial order. What was trimmed for it
// stays trimmed, see [Trimmed], and is never a referent.
//
// # Words
//
// A delivery is a resource at one place of a request, attached or returned by a
// tool. It is whole, or a reference, or line runs. Turns are counted in the stream
// that is given, which is the projected one, and from 1 where a message names them.
//
// # What it does not promise
//
// It knows no tokens and no prices: when to trim what is superseded is not its business.
// Blocks without a URI are delivered whole, and so is text.
package dedup
