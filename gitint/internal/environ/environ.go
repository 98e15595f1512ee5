package environ

import (
	"slices"
	"strings"
)

// A treatment is how this package treats a variable of the environment, or an extension of a
// repository, that can change what git reads.
type treatment int

const (
	// unknown: only a later git may know it, so it is uncertain that everything was read.
	unknown treatment = iota
	// harmless: it changes nothing that is read here, or this package sets it.
	harmless
	// honoured: git is asked for its effect, or it is read as git reads it.
	honoured
	// dropped: it is removed from the environment of every git process.
	dropped
	// refused: it makes git read something else than this package. Only deletion is refused.
	refused
)

// environment has every variable of git from 2.39 to 2.55 without one of the harmlessPrefixes, and
// those of other programs whose names begin the same way.
var environment = [...]struct {
	treatment treatment
	names     string
}{
	{honoured, `GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY
		GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_CEILING_DIRECTORIES GIT_DISCOVERY_ACROSS_FILESYSTEM
		GIT_IMPLICIT_WORK_TREE GIT_EXEC_PATH
		GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_CONFIG_PARAMETERS
		GIT_CONFIG_COUNT`},
	// GIT_CONFIG would make git config read another file; the others put patterns into paths.
	{dropped, `GIT_CONFIG GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS`},
	// Other refs, other parents, other replacements, objects of an unfinished push, and paths with
	// a prefix.
	{refused, `GIT_REFERENCE_BACKEND GIT_SHALLOW_FILE GIT_GRAFT_FILE GIT_REPLACE_REF_BASE
		GIT_QUARANTINE_PATH GIT_INTERNAL_SUPER_PREFIX`},
	// This package sets these for each git that reads.
	{harmless, `GIT_OPTIONAL_LOCKS GIT_NO_REPLACE_OBJECTS GIT_NO_LAZY_FETCH GIT_ALLOW_PROTOCOL
		GIT_TERMINAL_PROMPT GIT_LITERAL_PATHSPECS`},
	// For new repositories, and for writing.
	{harmless, `GIT_DEFAULT_HASH GIT_DEFAULT_REF_FORMAT GIT_DEFAULT_BRANCH GIT_TEMPLATE_DIR
		GIT_CLONE_PROTECTION_ACTIVE GIT_INDEX_VERSION GIT_REFLOG_ACTION GIT_ALLOW_NULL_SHA1
		GIT_FORCE_UNTRACKED_CACHE GIT_DISABLE_UNTRACKED_CACHE GIT_CHERRY_PICK_HELP GIT_SVN_ID`},
	// These only say how git treats broken refs and missing commits; this package detects them
	// itself.
	{harmless, `GIT_REF_PARANOIA GIT_COMMIT_GRAPH_PARANOIA`},
	// Attributes, the name of a namespace of a server, and the directory in the working tree where
	// git began.
	{harmless, `GIT_ATTR_SOURCE GIT_ATTR_GLOBAL GIT_ATTR_SYSTEM GIT_ATTR_NOSYSTEM GIT_NAMESPACE
		GIT_PREFIX`},
	// How git talks to people and to other machines, and the programs for it.
	{harmless, `GIT_ADVICE GIT_ASKPASS GIT_ASK_YESNO GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER
		GIT_PAGER_IN_USE GIT_FLUSH GIT_PROGRESS_DELAY GIT_PRINT_SHA1_ELLIPSIS GIT_TEXTDOMAINDIR
		GIT_USER_AGENT GIT_ALLOC_LIMIT GIT_MMAP_LIMIT GIT_FORCE_THREADS GIT_SHELL_PATH
		GIT_SMART_HTTP
		GIT_EXTERNAL_DIFF GIT_EXTERNAL_DIFF_TRUST_EXIT_CODE GIT_MERGE_AUTOEDIT
		GIT_MERGE_VERBOSITY GIT_MAN_VIEWER GIT_PROTOCOL GIT_PROTOCOL_FROM_USER GIT_PROJECT_ROOT
		GIT_OVERRIDE_VIRTUAL_HOST GIT_EXT_SERVICE GIT_EXT_SERVICE_NOPREFIX GIT_TOKEN
		GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_TRANSPORT_HELPER_DEBUG GIT_TRANSLOOP_DEBUG
		GIT_AUTO_COMMENT_CHAR_CONFIG_WARNING_GIVEN GIT_PUSH_NONCE GIT_PERL_FATAL_WARNINGS
		GIT_SEND_EMAIL_NOTTY GIT_SVN_NOTTY GIT_SOURCING_ZSH_COMPLETION
		GIT_TESTING_ALL_COMMAND_LIST GIT_TESTING_PORCELAIN_COMMAND_LIST`},
	// Set by Jenkins, GitLab and Bitrise for their jobs.
	{harmless, `GIT_COMMIT GIT_BRANCH GIT_LOCAL_BRANCH GIT_URL GIT_CHECKOUT_DIR
		GIT_PREVIOUS_COMMIT GIT_PREVIOUS_SUCCESSFUL_COMMIT
		GIT_STRATEGY GIT_CHECKOUT GIT_DEPTH GIT_CLEAN_FLAGS GIT_FETCH_EXTRA_FLAGS
		GIT_REPOSITORY_URL`},
}

// harmlessPrefixes are prefixes of many variables, none of which changes what is read.
var harmlessPrefixes = [...]string{
	"GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_NOTES_", "GIT_PUSH_OPTION_", "GIT_PUSH_CERT",
	"GIT_TRACE", "GIT_CURL_", "GIT_HTTP_", "GIT_SSL_", "GIT_PROXY_", "GIT_TCP_",
	"GIT_DIFF_", "GIT_DIFFTOOL", "GIT_MERGETOOL", "GIT_REDIRECT_", "GIT_SENDEMAIL_",
	"GIT_PS1_", "GIT_COMPLETION_", "GIT_GUI_", "GIT_CVSSERVER_", "GIT_INTERNAL_GETTEXT_",
	"GIT_TEST_",                            // git's own tests
	"GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", // read by git with GIT_CONFIG_COUNT
	"GIT_LFS_",                                 // Git LFS
	"GIT_CLONE_", "GIT_SUBMODULE_", "GIT_URL_", // Jenkins, GitLab, Bitrise
	"GIT_JP_", // this program's
}

// treatmentOf returns the treatment of a variable whose name begins as git's do.
func treatmentOf(name string) treatment {
	for _, row := range environment {
		if slices.Contains(strings.Fields(row.names), name) {
			return row.treatment
		}
	}
	for _, prefix := range harmlessPrefixes {
		if strings.HasPrefix(name, prefix) {
			return harmless
		}
	}
	return unknown
}

// extensions are those of git from 2.39 to 2.55. A harmless one does not change files, the values
// of an honoured one are examined, and with a refused one git, which knows it, is asked for objects
// and refs.
var extensions = map[string]treatment{
	"extensions.noop":                harmless,
	"extensions.noop-v1":             harmless,
	"extensions.preciousobjects":     harmless,
	"extensions.relativeworktrees":   harmless,
	"extensions.submodulepathconfig": harmless,
	"extensions.worktreeconfig":      harmless,
	"extensions.objectformat":        honoured,
	"extensions.partialclone":        honoured,
	"extensions.refstorage":          honoured,
	"extensions.compatobjectformat":  refused, // objects have a second name
}

// IsHarmlessExtension reports whether an extension does not change what this package reads.
func IsHarmlessExtension(key string) bool { return extensions[key] == harmless }
