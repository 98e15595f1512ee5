package recall

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve serves a client that sends one message a line. A line that is not a message gets an error
// of JSON-RPC and the server continues. At the end of the input, the server answers all pending
// requests before it returns.
//
// The transport of the SDK ends at the first such line, and cancels pending requests at the end of
// the input.
func Serve(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer) error {
	l := &lines{
		in: make(chan input), out: out, closed: make(chan struct{}), idle: make(chan struct{}, 1),
		pending: make(map[jsonrpc.ID]bool),
	}
	go l.scan(in)
	if err := s.Run(ctx, l); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// maxLine is the longest message, in bytes.
const maxLine = 16 << 20

// An input is a line or the error that ended the input. Without either, a line was longer than
// maxLine.
type input struct {
	line []byte
	err  error
}

// lines implements [mcp.Transport] and [mcp.Connection].
type lines struct {
	in     chan input
	out    io.Writer
	closed chan struct{}
	once   sync.Once
	idle   chan struct{} // receives a value after each answer

	mu      sync.Mutex // guards the following fields and out
	pending map[jsonrpc.ID]bool
}

// Connect implements [mcp.Transport].
func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID implements [mcp.Connection].
func (*lines) SessionID() string { return "" }

// Close implements [mcp.Connection].
func (l *lines) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// scan sends the lines of the input, and then the error that ended it. A blocked read cannot be
// interrupted: it lasts until the process ends.
func (l *lines) scan(in io.Reader) {
	r := bufio.NewReader(in)
	for {
		next := readLine(r)
		select {
		case l.in <- next:
		case <-l.closed:
			return
		}
		if next.err != nil {
			return
		}
	}
}

func readLine(r *bufio.Reader) input {
	var line []byte
	for tooLong := false; ; {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxLine; !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && len(line) == 0 && !tooLong:
			return input{err: err}
		case tooLong:
			return input{}
		default:
			return input{line: append(line, '\n')} // the next read returns the error, if any
		}
	}
}

// Read implements [mcp.Connection].
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.closed:
			return nil, io.EOF
		case next := <-l.in:
			if next.err != nil {
				return nil, errors.Join(next.err, l.settle(ctx))
			}
			msg, err := l.message(next.line)
			if msg != nil || err != nil {
				return msg, err
			}
		}
	}
}

// settle waits until no request is pending.
func (l *lines) settle(ctx context.Context) error {
	for {
		l.mu.Lock()
		n := len(l.pending)
		l.mu.Unlock()
		if n == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.closed:
			return nil
		case <-l.idle:
		}
	}
}

// message decodes a line. It returns nil for an empty line and for one that was refused here.
func (l *lines) message(line []byte) (jsonrpc.Message, error) {
	switch {
	case line == nil:
		return nil, l.refuse(nil, jsonrpc.CodeInvalidRequest,
			fmt.Sprintf("a message is longer than %d bytes", maxLine))
	case len(bytes.TrimSpace(line)) == 0:
		return nil, nil // an empty line is no message, and no error
	case !json.Valid(line):
		return nil, l.refuse(nil, jsonrpc.CodeParseError, "the line is not JSON")
	}
	var head struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, l.refuse(nil, jsonrpc.CodeInvalidRequest,
			"a message must be a JSON object on one line")
	}
	if !isID(head.ID) {
		return nil, l.refuse(nil, jsonrpc.CodeInvalidRequest,
			"an id must be a string or an integer")
	}
	msg, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, l.refuse(head.ID, jsonrpc.CodeInvalidRequest,
			"not a JSON-RPC 2.0 message")
	}
	if r, ok := msg.(*jsonrpc.Request); ok && r.IsCall() && !l.expect(r) {
		return nil, l.refuse(head.ID, jsonrpc.CodeInvalidRequest,
			"a request with this id is still pending")
	}
	return msg, nil
}

// isID reports whether the answer will have the same id: the SDK stores numbers as floating point.
func isID(raw json.RawMessage) bool {
	const most = 1 << 53
	if len(raw) == 0 || raw[0] == '"' || string(raw) == "null" {
		return true
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil && -most <= n && n <= most
}

// listen is a call that is answered when the client disconnects: [lines.settle] does not wait for
// it.
const listen = "subscriptions/listen"

// expect records that a call is pending. It returns false if one with the same id is.
func (l *lines) expect(r *jsonrpc.Request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending[r.ID] {
		return false
	}
	if r.Method != listen {
		l.pending[r.ID] = true
	}
	return true
}

// refuse answers a line that is not passed to the server with an error.
func (l *lines) refuse(id json.RawMessage, code int64, why string) error {
	line, err := json.Marshal(struct {
		Version string           `json:"jsonrpc"`
		ID      *json.RawMessage `json:"id"`
		Error   jsonrpc.Error    `json:"error"`
	}{"2.0", nonEmpty(id), jsonrpc.Error{Code: code, Message: why}})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.out.Write(append(line, '\n'))
	return err
}

// nonEmpty returns nil, which is null in JSON, for a missing id.
func nonEmpty(id json.RawMessage) *json.RawMessage {
	if len(id) == 0 {
		return nil
	}
	return &id
}

// Write implements [mcp.Connection].
func (l *lines) Write(_ context.Context, msg jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(msg)
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := msg.(*jsonrpc.Response); ok {
		delete(l.pending, r.ID)
		defer func() {
			select {
			case l.idle <- struct{}{}:
			default:
			}
		}()
	}
	if err != nil {
		return err
	}
	_, err = l.out.Write(append(line, '\n'))
	return err
}
