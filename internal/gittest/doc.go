// Package gittest builds real repositories for tests.
//
// It keeps one thing true: what a test sees depends on nothing but the test.
// Neither the configuration of the machine nor that of the user is read, the
// identity and the dates are fixed, and so are all object ids that follow from
// them. A test in which permissions of files matter runs as an unprivileged
// user, also where the suite is the superuser's.
//
// It is for tests only and fails the test instead of returning errors.
package gittest
