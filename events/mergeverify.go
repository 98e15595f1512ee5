package events

// verify checks the result.
func (m *merger) verify(r Result) error {
	return r.Stream.ValidateWith(DecodeOptions{MaxBlobBytes: -1})
}
