// Package claude reads the sessions of Claude Code: a file of one JSON record a line below
// projects/ of its directory, and one for each sub-agent.
//
// The format is not published; agentsview's notes on it and the files of versions 1.0 to 2.1
// are what this package goes by. Records of types that it does not know are kept.
package claude
