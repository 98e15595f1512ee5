package workspace

import "testing"

func TestPaths(t *testing.T) {
	for name, want := range map[string]struct {
		dir string
		id  int64
	}{
		".jp/conversations/17000000001-one/events.json":               {".jp", 17000000001},
		".jp/conversations/.archive/17000000001/events.json":          {".jp", 17000000001},
		"a/b/.jp/conversations/17000000001/a/b":                       {"a/b/.jp", 17000000001},
		"a/.jp/b/.jp/conversations/17000000001/events.json":           {"a/.jp", 0},
		".jp/conversations/.trash-17000000001/events.json":            {".jp", 0},
		".jp/conversations/17000000001":                               {".jp", 0},
		".jp/conversations/one/events.json":                           {".jp", 0},
		".jp/blobs/17000000001/x":                                     {".jp", 0},
		"a.jp/conversations/17000000001/events.json":                  {"", 0},
		"jp/17000000001/events.json":                                  {"", 0},
		".jp":                                                         {"", 0},
		"a/.jp/conversations/.archive/.archive/17000000001/events.js": {"a/.jp", 0},
	} {
		dir, ok := PathDir(name)
		if ok != (want.dir != "") || ok && dir != want.dir {
			t.Errorf("PathDir(%q): %q, %v, want %q", name, dir, ok, want.dir)
		}
		id, ok := PathID(name)
		if ok != (want.id != 0) || int64(id) != want.id {
			t.Errorf("PathID(%q): %d, %v, want %d", name, id, ok, want.id)
		}
	}
}
