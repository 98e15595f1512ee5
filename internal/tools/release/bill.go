package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// billName is the name that readers of CycloneDX look for.
const billName = "git-jp.cdx.json"

// A bill is a document of CycloneDX 1.5, with the members that a list of modules needs.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

// newBill lists every module that is linked into any of the programs, and the toolchain that built
// them, which has to be the same for all.
func newBill(version string, programs []string) ([]byte, error) {
	if len(programs) == 0 {
		return nil, errors.New("there are no programs")
	}
	b := bill{Format: "CycloneDX", Spec: "1.5", Version: 1}
	toolchain, seen := "", make(map[string]component)
	for _, name := range programs {
		info, err := buildinfo.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if toolchain != "" && toolchain != info.GoVersion {
			return nil, fmt.Errorf("%s: %s built it, others %s", name, info.GoVersion, toolchain)
		}
		toolchain = info.GoVersion
		b.Metadata.Component = module("application", info.Main.Path, version)
		for _, m := range info.Deps {
			c, err := library(m)
			if err != nil {
				return nil, fmt.Errorf("read the modules of %s: %w", filepath.Base(name), err)
			}
			seen[c.PURL] = c
		}
	}
	b.Components = []component{module("library", "std", strings.TrimPrefix(toolchain, "go"))}
	for _, c := range seen {
		b.Components = append(b.Components, c)
	}
	slices.SortFunc(b.Components, func(x, y component) int { return cmp.Compare(x.PURL, y.PURL) })
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

func module(kind, path, version string) component {
	purl := "pkg:golang/" + path + "@" + version
	return component{Type: kind, Ref: purl, Name: path, Version: version, PURL: purl}
}

// library describes a module with its hash in go.sum: a digest of its files, which CycloneDX counts
// as SHA-256.
func library(m *debug.Module) (component, error) {
	if m.Replace != nil {
		m = m.Replace
	}
	c := module("library", m.Path, m.Version)
	sum, found := strings.CutPrefix(m.Sum, "h1:")
	if !found {
		return c, fmt.Errorf("%s %s has no hash", m.Path, m.Version)
	}
	digest, err := base64.StdEncoding.DecodeString(sum)
	if err != nil {
		return c, fmt.Errorf("decode the hash of %s: %w", m.Path, err)
	}
	c.Hashes = []hash{{"SHA-256", hex.EncodeToString(digest)}}
	return c, nil
}
