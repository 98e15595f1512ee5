package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"

	"github.com/git-jp/git-jp/internal/exact"
)

// messages reads the messages in a server's standard output. Many servers, and the programs that
// start them, write other lines there too, which would end the session: those go to rest.
type messages struct {
	io.Closer
	lines *bufio.Scanner
	rest  io.Writer
	line  []byte // the part of a message that is not read yet
}

func newMessages(from io.ReadCloser, rest io.Writer) *messages {
	m := &messages{Closer: from, lines: bufio.NewScanner(from), rest: rest}
	m.lines.Buffer(nil, maxMessage)
	m.lines.Split(withEnd)
	return m
}

// withEnd splits into lines with their ends.
func withEnd(data []byte, atEOF bool) (advance int, line []byte, err error) {
	n := bytes.IndexByte(data, '\n') + 1
	if n == 0 && atEOF {
		n = len(data)
	}
	if n == 0 {
		return 0, nil, nil
	}
	return n, data[:n], nil
}

// Read implements [io.Reader].
func (m *messages) Read(p []byte) (int, error) {
	for len(m.line) == 0 {
		if !m.lines.Scan() {
			return 0, cmp.Or(m.lines.Err(), io.EOF)
		}
		if line := m.lines.Bytes(); isMessage(line) {
			m.line = line
		} else if _, err := m.rest.Write(line); err != nil {
			return 0, err
		}
	}
	n := copy(p, m.line)
	m.line = m.line[n:]
	return n, nil
}

// isMessage reports whether a line is a message, or an array of messages, as in older protocols.
func isMessage(line []byte) bool {
	var one struct {
		Version string `json:"jsonrpc"`
	}
	if line = bytes.TrimSpace(line); bytes.HasPrefix(line, []byte("[")) {
		var all []json.RawMessage
		return exact.Unmarshal(line, &all) == nil && len(all) > 0 && isMessage(all[0])
	}
	return exact.Unmarshal(line, &one) == nil && one.Version != ""
}
