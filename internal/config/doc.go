// Package config reads the settings of git jp from their layers and edits the
// files that hold them.
//
// A layer is one source of settings. From low to high: the built-in default,
// config.toml and git-jp.toml below the user's configuration directory, config.*
// and git-jp.toml below the workspace's .jp, and the -c options of the command
// line. config.* is jp's file: our keys are understood there, also as the RFDs
// spell them, and everything else in it is carried without being judged.
// git-jp.toml is ours: a key that we do not know is an error with its position.
//
// What the package keeps true:
//
//   - every effective value names the layer, file and line it came from;
//   - a value from below .jp is committed, that is, somebody else may have written
//     it. Settings that may start a process are of type [Trusted], which only
//     a layer of the user can fill; [Config.Trusted] answers the same for any key. A
//     committed gc.grace can lengthen the grace period and never shorten it;
//   - [Set] and [Unset] change one value and keep every other byte of the file, and
//     never put a key of ours into jp's file or one of jp's into ours.
//
// What it does not promise: it does not merge jp's own settings by jp's rules
// (lists that append, extends, inherit, .jp.* files, the user-local config.toml,
// JP_CFG_ variables), which is internal/jpconfig's business. For a key of jp's,
// [Config.Value] is what the highest layer says. It writes no file: [Set] is a function
// from bytes to bytes.
package config
