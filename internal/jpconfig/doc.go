// Package jpconfig reads jp's configuration as jp reads it, and knows of each value who
// wrote it.
//
// The layers, from low to high: what is built in; the user's file; the workspace's file;
// .jp.* files from the workspace's root down to the working directory; the user's file
// for the workspace; the environment (JP_CFG_…); the conversation; the -c options; flags
// of the command. Files extend other files and may refuse to inherit. How two layers
// join is [settings.Merge]'s business.
//
// # What it keeps true
//
// A file of jp's never fails for a key that is not known: that is a [Warning] with its
// place. A value of a wrong type counts as absent, with a warning too.
//
// What somebody else may have written is foreign: files below the workspace, whatever
// loads them, and everything inside a conversation. A foreign value that starts a
// process, chooses a host, names an environment variable or reaches out of the workspace
// has a type of its own ([Process], [Host], [EnvVar], [Path]) and comes out through a
// [trust.Gate] only. It is not foreign where the user's own layers alone would say the
// same: a conversation repeats the whole configuration of the day on which it began.
//
// Files below the workspace are read through an [os.Root]: neither a link nor an extends
// leads out of it.
//
// -c takes what jp takes, and what jp is about to take: a file or its name on the load
// paths, a JSON object, assignments to keys and to elements of lists (key.0=x), := null to
// take either away, NONE to begin with what is built in, WORKSPACE to begin without the
// conversation.
//
// # What it does not promise
//
// It knows the keys of jp, not what all of them mean; [Config.Decode] reads any of them.
// Our own keys that are in no file of jp's are internal/config's. Nothing is
// written.
package jpconfig
