// Package agents runs the real coding agents whose sessions are imported, against a provider on
// loopback that plays scripted answers.
//
// It tests what recordings cannot show: that the agents' present versions still write what the
// readers expect, that they run our hooks, and that they resume what was exported for them. Their
// files in each case can be kept as test data (make test-agents RECORD=1).
//
// All of it is tests behind the tag "agents", which `make test-agents` sets: the agents come from
// npm, and `make test` needs no network.
package agents
