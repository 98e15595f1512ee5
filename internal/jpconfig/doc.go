// Package jpconfig reads jp's configuration as jp does, and records for each value who wrote it.
//
// The layers, from low to high: built-in values; the user's file; the workspace's file; .jp.* files
// from the workspace's root down to the working directory; the user's file for the workspace; the
// environment (JP_CFG_…); the conversation; the -c options; flags of the command. Files extend
// other files and may refuse to inherit. [settings.Merge] merges two layers.
//
// # What it keeps true
//
// A file of jp's never fails for an unknown key: that is a [Warning] with its position. A value of
// the wrong type counts as absent, with a warning too.
//
// A value that another person may have written is foreign: files below the workspace, however they
// are loaded, and everything inside a conversation. A foreign value that starts a process, chooses
// a host, names an environment variable or reaches outside the workspace has a type of its own
// ([Process], [Host], [EnvVar], [Path]) and can only be read through a [trust.Gate]. A value is not
// foreign if the user's own layers alone have the same: a conversation repeats the complete
// configuration of the day on which it began.
//
// Files below the workspace are read through an [os.Root]: neither a link nor an extends leads
// outside it. A pattern of an extends takes one walk, which follows no link to a directory behind
// its first wildcard.
//
// -c accepts everything that jp accepts, and what jp plans to accept: a file or its name on the
// load paths, a JSON object, assignments to keys and to elements of lists (key.0=x), := null to
// remove either, NONE to start from the built-in values, WORKSPACE to start without the
// conversation.
//
// # What it does not promise
//
// It knows jp's keys, but not the meaning of all of them; [Config.Decode] reads any of them. Keys
// of git jp that are in no file of jp's belong to internal/config. The package writes no file.
package jpconfig
