package events

import (
	"bytes"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
)

// Skim returns the references of a stream of the usual form, as [Stream.References] does, in one
// pass that builds nothing. If ok is true, the stream decodes with no limit on the size of content,
// jp can load each element, each call of the last turn has its response, no request lacks its
// resources ([Element.Dropped]), and no reference is Loose.
// If ok is false, nothing is known about the stream, and the caller has to decode it.
func Skim(data []byte) (found []RefAt, ok bool) {
	if len(data) > maxStreamBytes || crowded(data) >= 0 {
		return nil, false
	}
	// Each reference has a "$blob". If there are more, the file refers to content in a place where
	// this version has none.
	refs := bytes.Count(data, []byte(blobMember))
	s := skimmer{Cursor: jsonspan.Cursor{B: data}, turn: -1}
	s.found = slices.Grow(s.found, min(refs, usualRefs))
	s.Space()
	for more := s.Begin('['); more; more = s.Next('[') {
		s.element()
		s.number++
	}
	if !s.End() || len(s.open) > 0 || refs != len(s.found) {
		return nil, false
	}
	return s.found, true
}

// A skimmer scans a stream. It fails on anything unusual.
type skimmer struct {
	jsonspan.Cursor
	number int // of the element
	turn   int
	open   []openCall // calls of the turn without a response so far
	found  []RefAt
}

type openCall struct{ id, tool []byte }

const (
	// usualCalls is the initial capacity for calls that await a response.
	usualCalls = 32
	// usualRefs limits the initial capacity for references.
	usualRefs = 1 << 10
)

// A glimpse holds the parts of an element that the skimmer keeps.
type glimpse struct {
	kind     Kind
	has      trait
	id, name []byte
	metadata []byte
}

// A trait is a set of members that an element has, with values of the expected form.
type trait uint16

const (
	hasTime trait = 1 << iota
	hasID
	hasName
	hasContent
	hasSpeech  // a message, reasoning or data
	hasOutcome // is_error
	hasSource
	hasQuestion
	hasAnswer
	hasResources
	hasMore // any that a turn_start may not have
)

// needs returns the members that an element of a usual kind must have.
func (k Kind) needs() (_ trait, usual bool) {
	switch k {
	case KindTurnStart, KindConfigDelta:
		return hasTime, true
	case KindChatRequest:
		return hasTime | hasContent, true
	case KindChatResponse:
		return hasTime | hasSpeech, true
	case KindToolCallRequest:
		return hasTime | hasID | hasName, true
	case KindToolCallResponse:
		return hasTime | hasID | hasOutcome | hasContent, true
	case KindInquiryRequest:
		return hasTime | hasID | hasSource | hasQuestion, true
	case KindInquiryResponse:
		return hasTime | hasID | hasAnswer, true
	default:
		return 0, false
	}
}

func (s *skimmer) element() {
	var e glimpse
	first := len(s.found)
	for more := s.Begin('{'); more; more = s.Next('{') {
		s.member(&e, s.Name())
	}
	needed, usual := e.kind.needs()
	if !usual || e.has&needed != needed || e.kind == KindTurnStart && e.has&hasMore != 0 ||
		e.mayLack() {
		s.Fail()
		return
	}
	if e.kind == KindTurnStart || s.turn < 0 && e.kind.IsEvent() {
		s.turn++
		s.open = s.open[:0]
	}
	switch e.kind {
	case KindToolCallRequest:
		if s.open = append(s.open, openCall{e.id, e.name}); len(s.open) > usualCalls {
			s.Fail()
		}
	case KindToolCallResponse:
		s.answer(e.id, s.found[first:])
	}
	for i := range s.found[first:] {
		s.found[first+i].Turn = s.turn
	}
}

// mayLack reports whether a request may be [Element.Dropped].
func (e *glimpse) mayLack() bool {
	return e.kind == KindChatRequest && e.has&hasResources == 0 &&
		bytes.Contains(e.metadata, []byte(MetadataAttached)) &&
		!bytes.Contains(e.metadata, []byte(metadataResources))
}

// answer closes the call with the given id, and fills in its call and tool in the references of the
// response.
func (s *skimmer) answer(id []byte, found []RefAt) {
	var call, tool string
	i := slices.IndexFunc(s.open, func(o openCall) bool { return string(o.id) == string(id) })
	if len(found) > 0 {
		call = string(id)
	}
	if i >= 0 {
		if len(found) > 0 {
			tool = string(s.open[i].tool)
		}
		s.open = slices.Delete(s.open, i, i+1)
	}
	for i := range found {
		found[i].Call, found[i].Tool = call, tool
	}
}

func (s *skimmer) member(e *glimpse, name []byte) {
	switch string(name) {
	case "timestamp":
		if _, ok := plainTime(s.word()); !ok {
			s.Fail()
		}
		e.has |= hasTime
		return
	case "type":
		e.kind = kindNamed(s.word())
		return
	case "metadata":
		from := s.At
		s.object()
		e.metadata = s.B[from:s.At]
		return
	}
	e.has |= hasMore | s.payload(e, name)
}

// payload scans a member that only some kinds have, and returns its trait.
func (s *skimmer) payload(e *glimpse, name []byte) trait {
	switch string(name) {
	case "id":
		e.id = s.word()
		return hasID
	case "name":
		e.name = s.word()
		return hasName
	case "content":
		s.content(e.kind)
		return hasContent
	case "message", "reasoning":
		s.Text()
		return hasSpeech
	case "data":
		s.Value()
		return hasSpeech
	case "is_error":
		if c := s.Peek(); c != 't' && c != 'f' {
			s.Fail()
		}
		s.Value()
		return hasOutcome
	case "source":
		s.tagged("source")
		return hasSource
	case "question":
		s.question()
		return hasQuestion
	case "answer":
		s.Value()
		return hasAnswer
	case "arguments", "schema":
		s.object()
	case "author":
		s.Text()
	case "resources":
		s.resources(e.kind)
		return hasResources
	default:
		s.Value()
	}
	return 0
}

// word scans a string without escapes.
func (s *skimmer) word() []byte {
	in, plain := s.Text()
	if !plain {
		s.Fail()
	}
	return in
}

func (s *skimmer) object() {
	if s.Peek() != '{' {
		s.Fail()
	}
	s.Value()
}

// tagged scans an object that must have a string member with the given name.
func (s *skimmer) tagged(name string) {
	has := false
	for more := s.Begin('{'); more; more = s.Next('{') {
		if string(s.Name()) == name {
			s.Text()
			has = true
		} else {
			s.Value()
		}
	}
	s.holds(has)
}

// question scans the question of a tool.
func (s *skimmer) question() {
	asks, typed := false, false
	for more := s.Begin('{'); more; more = s.Next('{') {
		switch string(s.Name()) {
		case "text":
			s.Text()
			asks = true
		case "answer_type":
			s.tagged("type")
			typed = true
		default:
			s.Value()
		}
	}
	s.holds(asks && typed)
}

// content scans the content of a request or a result.
func (s *skimmer) content(of Kind) {
	if s.Peek() == '"' {
		s.Text()
		return
	}
	if of != KindToolCallResponse {
		s.Fail() // also if the kind comes after the content
	}
	for more := s.Begin('['); more; more = s.Next('[') {
		s.block()
	}
}

func (s *skimmer) block() {
	var kind BlockType
	contents := 0
	for more := s.Begin('{'); more; more = s.Next('{') {
		switch name := s.Name(); string(name) {
		case "type":
			kind = s.blockType()
		case "text", "content":
			s.holds(kind == BlockText)
			s.text(name, RefAt{Part: PartText})
			contents++
		case "resource":
			s.holds(kind == BlockResource)
			s.resource(PartResource)
			contents++
		case "formatted":
			s.Fail()
		default:
			s.Value()
		}
	}
	s.holds(contents == 1)
}

// blockType scans the type of a block. Only two types are usual.
func (s *skimmer) blockType() BlockType {
	switch string(s.word()) {
	case string(BlockText):
		return BlockText
	case string(BlockResource):
		return BlockResource
	}
	s.Fail()
	return ""
}

// holds fails if the condition is false.
func (s *skimmer) holds(is bool) {
	if !is {
		s.Fail()
	}
}

func (s *skimmer) resources(of Kind) {
	s.holds(of == KindChatRequest)
	for more := s.Begin('['); more; more = s.Next('[') {
		s.resource(PartAttachment)
	}
}

func (s *skimmer) resource(part Part) {
	at := RefAt{Part: part}
	contents, named := 0, false
	for more := s.Begin('{'); more; more = s.Next('{') {
		switch name := s.Name(); string(name) {
		case "uri":
			at.URI, named = string(s.word()), true
		case "text", "content":
			s.holds(named)
			s.text(name, at)
			contents++
		case "mimeType", "name", "title", "description":
			s.Text()
		case "blob", "formatted":
			s.Fail()
		default:
			s.Value()
		}
	}
	s.holds(named && contents <= 1)
}

// text scans content that is either text under that name or a content object.
func (s *skimmer) text(name []byte, at RefAt) {
	if string(name) == bareText {
		s.Text()
		return
	}
	at.Element, at.Offset = s.number, int64(s.At)
	var refers, sized, says bool
	var err error
	for more := s.Begin('{'); more; more = s.Next('{') {
		switch string(s.Name()) {
		case blobMember:
			at.Ref.Hash, err = blobs.ParseHash(s.word())
			refers = err == nil
		case "size":
			from := s.At
			s.Value()
			at.Ref.Size, err = parseSize(s.B[from:s.At])
			sized = err == nil
		case bareText:
			s.Text()
			says = true
		default:
			s.Fail()
		}
	}
	if refers && sized && !says {
		s.found = append(s.found, at)
		return
	}
	s.holds(says && !refers)
}
