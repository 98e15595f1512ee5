// Package dedup decides which parts of a conversation a model need not be given again (RFD 067): a
// resource that it already has is replaced by a short message that says where it is.
//
// # What it keeps true
//
// Two resources are the same if their canonical URIs and the SHA-256 of their content are. A
// reference names a complete delivery in the same request, never one that was itself shortened, so
// the content is one step away. If there are several, the latest one counts.
//
// The text that is sent for an element depends only on earlier elements, or on the other results of
// one batch of parallel calls, which are sent together. So a request that grows keeps the bytes
// that were sent. A decision that depends on options or on the model's behavior is stored with the
// event, see [Mark], and kept as long as its referent exists.
//
// A model that requests content again after it was given a reference receives the content.
//
// Line runs reconstruct the content exactly: for each line the message either names the same line
// in a referent or has the line itself. The referents are deliveries of the same file, of any of
// its lines. Numbers before lines are not part of the lines.
//
// Time is linear in the resources and, where lines are compared, in their size.
//
// A result is superseded if a later one has everything that it had, as a [Rule] interprets the two
// calls. On calls that show something this is a partial order. A trimmed result stays trimmed, see
// [Trimmed], and is never a referent.
//
// # Words
//
// A delivery is a resource at one place of a request, attached or returned by a tool. It is whole,
// a reference, or line runs. Turns are counted in the given stream, which is the projected one, and
// from 1 where a message names them.
//
// # What it does not promise
//
// It does not know tokens or prices: the caller decides when to trim superseded results. Blocks
// without a URI, and plain text, are always delivered whole.
package dedup
