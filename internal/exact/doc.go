// Package exact decodes JSON by the exact names of its members.
//
// Package encoding/json takes ARGS and argſ for args too, and the last of them counts. Two readers
// of a setting, one of which finds its members by name, would then disagree about it: the question
// about a command would show another command than the one that runs. So whatever reads settings
// that others may have written decodes them here.
package exact
