// Package stage puts conversations into the index of Git together with all the content they refer
// to, for the command and for the commit hooks.
//
// # Words
//
// A conversation's closure is its files and the blobs that its stream refers to. The rewound
// branches of an agent's session are staged with its conversation. A plan is what a stage would do.
// A note is a list of paths that the pre-commit hook added to an index that Git discards, and that
// must still be added to the one it keeps.
//
// # What holds
//
//   - A closure is staged completely, in one step, or not at all. What is staged is what was
//     checked: if a stream grew in between, or a conversation was renamed, the stage is planned
//     again, and a filter that changes a blob refuses the stage. Of a conversation that cannot be
//     listed nothing is staged, and nothing removed.
//   - What was removed or renamed in the working tree is removed from the index, by the
//     conversation's id and not by its title. Files that a sparse checkout leaves out are not
//     removed. Blobs are never removed from the index: the collector knows what else needs them.
//   - What is staged or committed brings no new secret, as far as internal/leaks finds it.
//   - A commit that pre-commit lets pass adds no dangling reference. What was dangling in HEAD
//     before is reported and does not block.
//   - After any form of commit the index that Git keeps has every path of ours that HEAD got, so
//     the next commit deletes nothing.
//   - Hooks wait for no lock, write only an index, the note and, in a lazy clone, the files and
//     copies of blobs that no remote has. They start no process when a commit has nothing of ours
//     in a plain repository; elsewhere at most two, including the one that finds the repository,
//     and one more when there is no commit yet.
//
// # What is not promised
//
// The files of the workspace itself (.jp/.id, .jp/.gitignore, configuration) are the user's to add.
// Files in a conversation's directory that are not its own are staged unless they are ignored;
// drafts and temporary files never are. A conversation that is being written is staged in its
// present state, with a warning.
package stage
