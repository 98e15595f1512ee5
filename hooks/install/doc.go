// Package install installs git hooks that call 'git jp hook', and the drivers of merges and diffs,
// and takes them out again.
//
// What it keeps true:
//
//   - Only text that this package once wrote is overwritten or removed, word for word.
//     A file that somebody changed, and every file of others, is left as it is; what is
//     to be done by hand is part of the [Plan].
//   - Files are written only below the repository's common directory. Where
//     core.hooksPath points elsewhere, into the working tree or out of the repository, the
//     plan names the line to add and writes nothing.
//   - Installing and then uninstalling leaves the repository byte for byte as it was,
//     modes included. Settings are git's to write, though: where the file ended in a
//     comment it keeps our empty section header, and it tidies the end of the file.
//   - A machine without git-jp can use the repository: an installed hook says one line
//     on standard error and lets git go on.
//   - Installing is idempotent, from any worktree: worktrees share their hooks.
//
// # Where a hook goes
//
// A git that knows hooks in the configuration (2.54 and newer) gets them there, as
// hook.jp-<name>.event and .command, beside whatever hook manager there is. An older
// git gets a file in its hooks directory. Since several of them may use one repository,
// the configuration has such a file beside it where the place is free, which asks git
// whether it ran the hook already. What somebody else has in the configuration runs
// beside ours; where it calls ours, nothing is installed for that hook, and none that
// a setting has turned off.
//
// Where there is a hook file of somebody else already, nothing is written unless
// [ForeignChain] was chosen. Then a marked block is put behind the first line of a
// shell script, not at its end: many hooks end in exec or exit, and what follows is
// never run. Hooks that read standard input get a block that reads it once and
// gives it to both. Files that a hook manager writes anew (husky, lefthook,
// pre-commit, prek, simple-git-hooks) are never chained into, since the block would be
// lost without a word; the plan says what belongs into the manager's own
// configuration. pre-commit and prek run a script of the name <hook>.legacy before their
// own hooks, with all that git gives it: that is where [ForeignChain] puts ours.
//
// # What it does not promise
//
// An installed hook is a convenience: git runs no pre-commit for merges and rebases,
// forges run none, and a git that predates 2.54 does not see hooks in the
// configuration. Whether a repository is whole is for a check of its trees to say.
package install
