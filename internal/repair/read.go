package repair

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
)

// read reads all candidates, files first, and accepts lost content. A candidate that cannot be
// read, or has other content than expected, is skipped without an error.
func (s *search) read(ctx context.Context) error {
	candidates := s.candidates
	s.candidates = nil
	var objects []Find
	var ids []gitint.OID
	for _, f := range candidates {
		if f.file == "" {
			objects, ids = append(objects, f), append(ids, f.object)
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !s.open(f) {
			continue
		}
		if data, err := regular.ReadFile(f.file, s.limits().OfAny()); err == nil {
			if err := s.look(f, data); err != nil {
				return err
			}
		}
	}
	if s.Repo == nil || len(ids) == 0 {
		return nil
	}
	err := s.Repo.ReadObjects(ctx, ids, func(i int, data []byte, err error) error {
		s.tried[ids[i]] = true
		if s.Progress != nil {
			s.Progress("objects", i+1, len(ids))
		}
		switch {
		case len(s.lost) == 0:
			return errEnough
		case err != nil || !s.open(objects[i]):
			return ctx.Err()
		}
		return s.look(objects[i], data)
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// open reports whether a candidate can have lost content.
func (s *search) open(f Find) bool {
	if f.Place == PlaceStream {
		return len(s.lost) > 0
	}
	_, ok := s.lost[f.Hash]
	return ok
}

// look takes lost content from the bytes of a candidate.
func (s *search) look(f Find, data []byte) error {
	if f.Place == PlaceStream {
		return s.lookInside(f, data)
	}
	if oid, _, ok := blobs.ParsePointer(data); ok && s.lfs != "" {
		f.Place, f.file = PlaceLFS, s.lfsFile(oid)
		f.Where = f.file
		var err error
		if data, err = regular.ReadFile(f.file, s.limits().OfAny()); err != nil {
			return nil //nolint:nilerr // not fetched
		}
	}
	content, err := s.unpack(f.Hash, data)
	if err != nil {
		return nil //nolint:nilerr // a damaged copy, of which there may be others
	}
	return s.accept(f, content)
}

func (s *search) lfsFile(oid string) string {
	return filepath.Join(s.lfs, oid[:2], oid[2:4], oid)
}

// unpack decodes the file of a blob. The hash identifies the content; the size in the reference may
// be wrong.
func (s *search) unpack(h blobs.Hash, gz []byte) ([]byte, error) {
	ref := blobs.Ref{Hash: h, Size: s.lost[h].Size}
	content, err := blobs.Decode(gz, ref)
	if wrong := new(blobs.SizeError); !errors.As(err, &wrong) {
		return content, err
	}
	err = blobs.Verify(gz, ref, s.Workspace.Blobs().Limits().Max())
	if wrong := new(blobs.SizeError); errors.As(err, &wrong) && wrong.Actual >= 0 {
		ref.Size = wrong.Actual
		return blobs.Decode(gz, ref)
	}
	return nil, err
}

// lookInside takes lost content that a stream holds inline.
func (s *search) lookInside(f Find, data []byte) error {
	stream, err := events.Decode(data)
	if err != nil {
		return nil // a damaged version, of which there may be others
	}
	for c := range stream.Contents() {
		if c.Content.IsRef() {
			continue
		}
		f.Hash = c.Content.Ref().Hash
		if !s.open(Find{Ref: f.Ref}) {
			continue
		}
		content, err := c.Content.Bytes(nil)
		if err != nil {
			return err
		}
		if err := s.accept(f, content); err != nil {
			return err
		}
	}
	return nil
}
