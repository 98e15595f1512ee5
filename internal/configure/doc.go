// Package configure prints and changes settings, those of git jp and those of jp.
//
// It keeps three things true: every other byte of a file stays; a value that has no effect after it
// was written is reported; a value that a user sets in a shared file is thereby approved, and
// nothing else is. Package [github.com/git-jp/git-jp/internal/config] knows the files and the
// effective values, and for jp [github.com/git-jp/git-jp/internal/jpconfig] does.
package configure
