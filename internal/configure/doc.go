// Package configure prints and changes settings, those of git jp and those of jp.
//
// It keeps three things true: every other byte of a file stays; a value that does not count after
// it was written is reported; what a person writes by hand into a file that others share is
// approved by that, and nothing else is. What files there are and which value counts is
// [github.com/git-jp/git-jp/internal/config]'s business, and for jp
// [github.com/git-jp/git-jp/internal/jpconfig]'s.
package configure
