// Package config reads the settings of git jp from their layers, and edits the files that have
// them.
//
// A layer is one source of settings. From low to high: the built-in default, config.toml and
// git-jp.toml below the user's configuration directory, config.* and git-jp.toml below the
// workspace's .jp, and the -c options of the command line. config.* is jp's file: our keys are
// recognized there, also in the spelling of the RFDs, and all other keys are kept without a check.
// git-jp.toml is ours: an unknown key is an error with its position.
//
// What the package keeps true:
//
//   - every effective value has its layer, file and line;
//   - a value from below .jp is committed, that is, somebody else may have written it. Settings
//     that may start a process are of type [Trusted], which only a layer of the user can fill;
//     [Config.Trusted] does the same for any key. A committed gc.grace can lengthen the grace
//     period and never shorten it;
//   - [Set] and [Unset] change one value and keep every other byte of the file. They never put a
//     key of ours into jp's file or one of jp's into ours.
//
// What it does not promise: it does not merge jp's own settings by jp's rules (lists that append,
// extends, inherit, .jp.* files, the user-local config.toml, JP_CFG_ variables), which
// internal/jpconfig does. For a key of jp's, [Config.Value] returns the value of the highest layer.
// [Set] and [Unset] write no file: they are functions from bytes to bytes.
package config
