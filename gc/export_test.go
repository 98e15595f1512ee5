package gc

import "github.com/git-jp/git-jp/blobs"

// Blind makes the mark see no reference to some content, whatever root leads to it.
func (o *Options) Blind(of func(blobs.Hash) bool) { o.blind = of }
