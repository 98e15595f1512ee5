// Package sessiontest shows tests what a session became.
package sessiontest
