package house

// gitintRooms are the rows of the one door to Git.
var gitintRooms = []room{
	{
		dir: "gitint",
		is:  "the one door to Git",
		imports: []string{
			"gitint/internal/environ", "gitint/internal/git", "gitint/internal/gitfile",
			"gitint/internal/gitlock", "gitint/internal/index", "gitint/internal/object",
			"gitint/internal/odb", "gitint/internal/owner", "gitint/internal/plain",
			"gitint/internal/refstore", "gitint/internal/unfinished",
			"internal/atomicfile", "internal/regular", "internal/trace",
		},
	},
	{
		dir: "gitint/internal/environ",
		is:  "what variables of git and extensions of repositories do to what git reads",
	},
	{
		dir:       "gitint/internal/git",
		is:        "starting git: commands, what they print, the objects that one process answers with",
		imports:   []string{"gitint/internal/environ", "gitint/internal/object", "internal/trace"},
		processes: "git",
	},
	{
		dir:     "gitint/internal/gitfile",
		is:      "files that git may be changing",
		imports: []string{"internal/regular"},
	},
	{
		dir:     "gitint/internal/gitlock",
		is:      "git's locks: taken, waited for, broken if stale; who holds one",
		imports: []string{"internal/filelock", "internal/regular"},
	},
	{
		dir:     "gitint/internal/index",
		is:      "the file of the index in all its forms, verified",
		imports: []string{"gitint/internal/object", "gitint/internal/gitfile", "internal/regular"},
	},
	{
		dir:     "gitint/internal/object",
		is:      "objects without a repository: names, kinds, entries; trees and commits as git encodes them",
		imports: []string{"internal/regular"},
	},
	{
		dir:     "gitint/internal/odb",
		is:      "directories of objects: packs, files of single objects, alternates",
		imports: []string{"gitint/internal/object", "gitint/internal/gitfile"},
	},
	{
		dir: "gitint/internal/owner",
		is:  "whose files are safe to use, by git's rule",
	},
	{
		dir: "gitint/internal/plain",
		is:  "repositories that are found without git",
		imports: []string{
			"gitint/internal/environ", "gitint/internal/gitfile", "gitint/internal/object",
			"gitint/internal/owner", "gitint/internal/refstore",
		},
	},
	{
		dir:     "gitint/internal/refstore",
		is:      "refs and reflogs: files, packed-refs, reftables",
		imports: []string{"gitint/internal/gitfile", "gitint/internal/object"},
	},
	{
		dir:     "gitint/internal/unfinished",
		is:      "what the files of an operation in progress name, and whether they are whole",
		imports: []string{"gitint/internal/object"},
	},
}
