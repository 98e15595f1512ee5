// Package filelock locks open files as jp does, without waiting. The system releases a lock when
// the process ends, however it ends.
package filelock
