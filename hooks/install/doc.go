// Package install installs git hooks that call 'git jp hook', and the drivers of merges and diffs,
// and removes them again.
//
// What it keeps true:
//
//   - Only text that this package once wrote is overwritten or removed, word for word. A file that
//     a user changed, and every other file, is left alone; the [Plan] says what has to be done by
//     hand.
//   - Files are written only below the repository's common directory. If core.hooksPath points
//     elsewhere, into the working tree or out of the repository, the plan names the line to add and
//     writes nothing.
//   - Installing and then uninstalling leaves the repository byte for byte as it was, modes
//     included. Git writes the settings, though: if the file ended in a comment it keeps our empty
//     section header, and git tidies the end of the file.
//   - A machine without git-jp can use the repository: an installed hook prints one line on
//     standard error and lets git continue.
//   - Installing is idempotent, from any worktree: worktrees share their hooks.
//
// # Where a hook goes
//
// A git that knows hooks in the configuration (2.54 and newer) gets them there, as
// hook.jp-<name>.event and .command, beside whatever hook manager there is. An older git gets a
// file in its hooks directory. Since several versions of git may use one repository, the
// configuration is accompanied by such a file if the place is free; the file asks git whether it
// ran the hook already. Other hooks in the configuration run beside ours. If one of them calls
// ours, or a setting has turned ours off, nothing is installed for that hook.
//
// If there is another hook file already, nothing is written unless [ForeignChain] was chosen. Then
// a marked block is put after the first line of a shell script, not at its end: many hooks end in
// exec or exit, and anything after that never runs. Hooks that read standard input get a block that
// reads it once and gives it to both. Files that a hook manager overwrites (husky, lefthook,
// pre-commit, prek, simple-git-hooks) are never chained into, since the block would be lost without
// a word; the plan says what to add to the manager's own configuration. pre-commit and prek run a
// script named <hook>.legacy before their own hooks, with everything that git gives it: that is
// where [ForeignChain] puts ours.
//
// # What it does not promise
//
// An installed hook is a convenience: git runs no pre-commit for merges and rebases, forges run no
// hooks, and a git that predates 2.54 does not see hooks in the configuration. Whether a repository
// is complete is for a check of its trees to say.
package install
