// Package gittest builds real repositories for tests.
//
// It keeps one thing true: what a test sees depends on nothing but the test. It reads neither the
// machine's configuration nor the user's; the identity and the dates are fixed, and so are all
// object ids that follow from them. A test in which file permissions matter runs as an unprivileged
// user, even if root runs the suite.
//
// It is for tests only and fails the test instead of returning errors.
package gittest
