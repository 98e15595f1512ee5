// Package stage puts conversations into the index of Git together with all the
// content they refer to, by the command and by the commit hooks.
//
// # Words
//
// A conversation's closure is its files and the blobs that its stream refers to. What was rewound
// in an agent's session is staged with its conversation. A plan
// is what a stage would do. A note is a list of paths that the pre-commit hook added to
// an index that Git throws away, and that must still go into the one it keeps.
//
// # What holds
//
//   - A closure is staged whole, in one step, or not at all. What is staged is what was
//     checked: a stream that grew in between, or a conversation that was renamed, is planned
//     again, and a filter that turns a blob into something else refuses the stage. Of a
//     conversation that cannot be listed nothing is staged, and nothing removed.
//   - What was removed or renamed in the working tree leaves the index, by the
//     conversation's id and not by its title. What a sparse checkout does not show
//     is not removed. Blobs never leave the index: the collector knows who else
//     needs them.
//   - What is staged or committed brings no new secret, as far as internal/leaks finds it.
//   - A commit that pre-commit lets pass adds no dangling reference. What was
//     dangling in HEAD before is told and does not block.
//   - After any form of commit the index that Git keeps has every path of ours that HEAD
//     got, so the next commit deletes nothing.
//   - Hooks wait for no lock, write only an index, the note and, in a lazy clone, the files and
//     copies of blobs that no remote has, and start no process when a commit has nothing of
//     ours in a plain repository; elsewhere at most two, the one that finds the repository
//     included, and one more when there is no commit yet.
//
// # What is not promised
//
// The files of the workspace itself (.jp/.id, .jp/.gitignore, configuration) are the
// user's to add. Files in a conversation's directory that are not its own are staged
// unless they are ignored; drafts and temporary files never are. A conversation that is
// being written is staged as it stands, with a warning.
package stage
