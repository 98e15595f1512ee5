package redact

import (
	"bytes"
	"errors"
	"path/filepath"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Rules returns the rules of a workspace. A rules file with an error is ignored.
func Rules(w *workspace.Workspace, o leaks.Options) *secrets.Rules {
	var c secrets.Committed
	file := filepath.Join(w.Dir(), filepath.FromSlash(secrets.RulesFile))
	if data, err := regular.ReadFile(file, secrets.MaxFile); err == nil {
		c, _ = secrets.ParseRules(data)
	}
	return o.Rules(workspace.DirName, c)
}

// ErrValue reports that a finding no longer exists.
var ErrValue = errors.New("the finding is not there any more, or is no text")

// Value returns the secret of a finding.
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
	scanner := &secrets.Scanner{Rules: rules}
	contents := r.Workspace.BlobsOf(e)
	found, err := scanner.Stream(id, c.Stream, nil, contents)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if f.Fingerprint() == a.Fingerprint() {
			return valueIn(secrets.Texts(c.Stream.At(f.Element)), f, contents)
		}
	}
	if a.Event != workspace.MetadataFile && a.Event != workspace.BaseConfigFile {
		return nil, ErrValue
	}
	data, err := r.Workspace.ReadFile(e, a.Event)
	if err != nil {
		return nil, err
	}
	for _, f := range scanner.Document(id, a.Event, data) {
		if f.Fingerprint() == a.Fingerprint() {
			return valueIn(secrets.DocumentTexts(data), f, contents)
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
