package dedup

import (
	"strings"
	"sync"
)

// A Trade is the effect on files of tools with a name.
type Trade string

// The trades. A tool with no trade may do anything: repeating its call may repeat an effect.
const (
	NoTrade  Trade = ""
	Reader   Trade = "reads"
	Writer   Trade = "writes"
	Lister   Trade = "lists"
	Searcher Trade = "searches"
)

// trades lists the tools whose effect is known by name: ours and jp's, and those of agents whose
// sessions are imported. Tools that run commands are not among them.
var trades = sync.OnceValue(func() map[string]Trade {
	all := map[string]Trade{}
	for trade, names := range map[Trade]string{
		Reader: "fs_read_file refresh_resource read read_file view Read NotebookRead",
		Writer: "fs_create_file fs_modify_file fs_delete_file fs_move_file" +
			" write write_file write_pieces write_to_file edit edit_file multiedit replace" +
			" replace_in_file apply_patch apply_diff create_file create patch" +
			" replace_string_in_file insert_edit_into_file Write Edit MultiEdit NotebookEdit",
		Lister: "fs_list_files list list_folder list_directory list_dir list_files ls LS" +
			" glob Glob",
		Searcher: "fs_grep_files grep grep_files grep_search file_search search_files" +
			" search_file_content Grep",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = trade
		}
	}
	return all
})

// TradeOf returns the trade of tools with a name, or NoTrade if it is unknown.
func TradeOf(tool string) Trade { return trades()[tool] }

// As returns a rule that interprets the calls of any tool as calls of the given one.
func (r Rule) As(tool string) Rule {
	as := func(c Invocation) Invocation {
		c.Tool = tool
		return c
	}
	of := Rule{Name: r.Name, Read: func(c Invocation) ([]Claim, bool) { return r.Read(as(c)) }}
	if r.Changes != nil {
		of.Changes = func(c Invocation) []string { return r.Changes(as(c)) }
	}
	return of
}
