package redact

import (
	"bytes"
	"errors"
	"path"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Rules returns the rules of a workspace. A rules file with an error is ignored.
func Rules(w *workspace.Workspace, o leaks.Options) *secrets.Rules {
	var c secrets.Committed
	if data, err := leaks.ReadFile(w, secrets.RulesFile); err == nil {
		c, _ = secrets.ParseRules(data)
	}
	return o.Rules(workspace.DirName, c)
}

// ErrValue reports that a finding no longer exists.
var ErrValue = errors.New("the finding no longer exists, or is not text")

// Value returns the secret of a finding in the working tree.
func (r Redactor) Value(rules *secrets.Rules, a secrets.Allowed) ([]byte, error) {
	id, err := events.ParseID(a.Conversation)
	if err != nil {
		return nil, err
	}
	e, err := r.Workspace.Find(id.String(), workspace.FindOptions{
		ListOptions: workspace.ListOptions{Archived: true},
	})
	if err != nil {
		return nil, err
	}
	c, err := r.Workspace.Load(e)
	if err != nil {
		return nil, err
	}
	return version{id, c.Stream, r.Workspace.BlobsOf(e), func(name string) ([]byte, error) {
		return r.Workspace.ReadFile(e, name)
	}}.value(rules, a)
}

// valueInIndex returns the secret of a finding in the index.
func (t Tracked) valueInIndex(
	index *gitint.Index, rules *secrets.Rules, a secrets.Allowed,
) (value []byte, err error) {
	id, err := events.ParseID(a.Conversation)
	if err != nil {
		return nil, err
	}
	dirs, err := t.indexedDirs(index)
	if err != nil {
		return nil, err
	}
	err = ErrValue
	for _, dir := range dirs[id] {
		v := version{id: id, file: func(name string) ([]byte, error) {
			return index.ReadFile(path.Join(dir, name))
		}}
		var data []byte
		if data, err = v.file(workspace.EventsFile); err != nil {
			continue
		}
		if v.stream, err = events.Decode(data); err != nil {
			continue
		}
		v.contents = blobs.Readers{indexed{index, t.Dir}, t.Workspace.Blobs(), t.elsewhere(id)}
		if value, err = v.value(rules, a); err == nil {
			return value, nil
		}
	}
	return nil, err
}

// A version is a conversation in the working tree or in the index.
type version struct {
	id       events.ID
	stream   *events.Stream
	contents blobs.Reader
	file     func(name string) ([]byte, error)
}

func (v version) value(rules *secrets.Rules, a secrets.Allowed) ([]byte, error) {
	scanner := &secrets.Scanner{Rules: rules}
	found, err := scanner.Stream(v.id, v.stream, nil, v.contents)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if f.Fingerprint() == a.Fingerprint() {
			return valueIn(secrets.Scanned(v.stream.At(f.Element)), f, v.contents)
		}
	}
	if a.Event != workspace.MetadataFile && a.Event != workspace.BaseConfigFile {
		return nil, ErrValue
	}
	data, err := v.file(a.Event)
	if err != nil {
		return nil, err
	}
	for _, f := range scanner.Document(v.id, a.Event, data) {
		if f.Fingerprint() == a.Fingerprint() {
			return valueIn(secrets.ScannedDocument(data), f, v.contents)
		}
	}
	return nil, ErrValue
}

// valueIn returns the text of a finding.
func valueIn(texts []secrets.Text, f secrets.Finding, contents blobs.Reader) ([]byte, error) {
	for _, t := range texts {
		if t.Member == f.Member {
			text, err := t.Content.Bytes(contents)
			if err != nil {
				return nil, err
			}
			return bytes.Clone(text[f.Match.Start:f.Match.End]), nil
		}
	}
	return nil, ErrValue
}
