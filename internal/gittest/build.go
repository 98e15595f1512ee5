package gittest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"
)

// BuildFlags returns the flags with which this program was built, so that packages that another
// program shares with it are not compiled again.
func BuildFlags() (flags []string) {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if (s.Key == "-race" || s.Key == "-trimpath") && s.Value == "true" {
			flags = append(flags, s.Key)
		}
	}
	return flags
}

// Overlay returns the argument that makes go use these texts in place of files below a directory,
// or beside them, by their slash paths. No source is changed.
func Overlay(tb testing.TB, dir string, texts map[string]string) string {
	tb.Helper()
	at := tb.TempDir()
	dir, err := filepath.Abs(dir)
	list := struct{ Replace map[string]string }{make(map[string]string)}
	for name, text := range texts {
		other := filepath.Join(at, strconv.Itoa(len(list.Replace))+".go")
		list.Replace[filepath.Join(dir, filepath.FromSlash(name))] = other
		err = errors.Join(err, os.WriteFile(other, []byte(text), 0o600))
	}
	data, jsonErr := json.Marshal(list)
	file := filepath.Join(at, "overlay.json")
	if err = errors.Join(err, jsonErr, os.WriteFile(file, data, 0o600)); err != nil {
		tb.Fatal(err)
	}
	return "-overlay=" + file
}
