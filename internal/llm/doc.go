// Package llm has what all language models share: requests ([Request]), the deltas of an answer
// ([Delta]), errors, and the parts that every wire format needs and must not implement by itself,
// such as the only retry policy. Package wire has the HTTP client and the rules of each format.
//
// It keeps true:
//
//   - A [Request] is independent of the provider. Data that a provider wants returned (signatures,
//     encrypted items, ids) travels in [events.Metadata] and is replayed byte for byte to the
//     provider that made it, and to no other.
//   - The same request gives the same bytes on the wire: no code here reads a clock or a random
//     number to build one, or ranges over a map unsorted.
//   - Every body passes wire.Check in the form in which it is sent: the client of wire.NewClient
//     refuses any other body.
//   - A stream ends in exactly one of two ways: a [DeltaStop] as its last delta, or an error. A
//     stream that is abandoned early holds no goroutine and no connection.
//   - Deltas of a part are a [DeltaStart], fragments and a [DeltaEnd]; the end carries the event to
//     store, and only complete parts end.
//
// It does not promise that a request fits the model's window (see [OverflowError]), nor that a
// model follows a schema: the caller validates.
//
// Adapters, one package for each wire format, are below this directory. They keep no state between
// calls, and can be used by many goroutines at once.
package llm
