// Package claude reads the sessions of Claude Code: a file of one JSON record a line below
// projects/ of its directory, and one for each sub-agent.
//
// The format is not published. This package follows agentsview's notes on it and files of versions
// 1.0 to 2.1. Records of unknown types are kept.
package claude
