package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/configure"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A layerFlags selects a layer of jp's settings.
type layerFlags struct {
	User          bool `short:"u" xor:"layer" help:"For you everywhere; where keys of jp are set by default."`
	Workspace     bool `short:"w" xor:"layer" help:"For everybody in this workspace; where keys of git jp are set by default."`
	UserWorkspace bool `xor:"layer" help:"For you in this workspace (keys of jp)."`
	Cwd           bool `xor:"layer" help:"For everybody in this directory and below it (keys of jp)."`
}

// layer returns the layer that was named, [jpconfig.BuiltIn] without one.
func (f layerFlags) layer() jpconfig.Layer {
	switch {
	case f.User:
		return jpconfig.User
	case f.Workspace:
		return jpconfig.Workspace
	case f.UserWorkspace:
		return jpconfig.UserWorkspace
	case f.Cwd:
		return jpconfig.Directory
	default:
		return jpconfig.BuiltIn
	}
}

var errNoHome = errors.New(
	"there is no place for your settings: HOME does not name a directory")

// ownFile returns the file of our settings that the flags select, the user's or the workspace's.
func (f layerFlags) ownFile(a *app, doing, key string) (string, error) {
	switch {
	case f.UserWorkspace, f.Cwd:
		return "", usagef("%s %s: a key of git jp is yours (--user) or the workspace's", doing, key)
	case f.User:
		dir := userDir(a)
		if dir == "" {
			return "", fmt.Errorf("%s %s: %w", doing, key, errNoHome)
		}
		return filepath.Join(dir, config.OwnFile), nil
	}
	root, err := a.root()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, workspace.DirName, config.OwnFile), nil
}

// jpSettings returns jp's settings, only the user's if there is no workspace.
func jpSettings(a *app) (configure.JP, error) {
	w, err := a.workspace()
	if errors.Is(err, workspace.ErrNoWorkspace) {
		w, err = nil, nil
	}
	return configure.JP{Host: a.host(), Workspace: w}, err
}

// setJPKey sets a key of jp's in a file of its layers.
func setJPKey(a *app, key, text string, layer jpconfig.Layer) error {
	if layer == jpconfig.UserWorkspace {
		if _, err := a.workspace(); err != nil {
			return err
		}
	}
	jp, err := jpSettings(a)
	if err != nil {
		return err
	}
	return jp.Set(key, text, layer)
}
