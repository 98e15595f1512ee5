// Package realdata finds the real conversations and recorded vectors that some tests use. They are
// not part of the project: a test whose data is missing is skipped with a message that says where
// it was searched for.
package realdata
