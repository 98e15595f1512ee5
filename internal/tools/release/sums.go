package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// sumsName is the file that `sha256sum -c` reads.
const sumsName = "SHA256SUMS"

// checksums lists the files of dir except the list itself, by name.
func checksums(dir string) ([]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list bytes.Buffer
	for _, e := range entries {
		if e.Name() == sumsName {
			continue
		}
		sum, err := checksum(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&list, "%x  %s\n", sum, e.Name())
	}
	return list.Bytes(), nil
}

func checksum(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return h.Sum(nil), nil
}
