// Package llm is what every language model has in common: what is asked
// ([Request]), what streams back ([Delta]), how it goes wrong, and the parts that
// each wire format needs and none may have its own of, such as the one retry policy.
// Package wire has the HTTP client and the rules of each format.
//
// It keeps true:
//
//   - A [Request] is neutral. What a provider gave us to give back (signatures,
//     encrypted items, ids) travels in [events.Metadata] and is replayed byte for
//     byte to the provider that made it, and to no other.
//   - The same request gives the same bytes on the wire: nothing here reads a
//     clock or a random number to build one, and no map is ranged over unsorted.
//   - Every body passes wire.Check in the form in which it goes on the wire: the
//     client of wire.NewClient refuses the others.
//   - A stream ends in exactly one of two ways: a [DeltaStop] as its last delta, or
//     an error. A stream that is given up early holds no goroutine and no
//     connection.
//   - Deltas of a part are a [DeltaStart], fragments and a [DeltaEnd]; the end
//     carries the event to store, and only complete parts end.
//
// It does not promise that a request fits the model's window (see
// [OverflowError]), nor that a model follows a schema: whoever asks validates.
//
// Adapters, one package a wire format, are below this directory. None keeps
// state between calls, and all may be used from many goroutines.
package llm
