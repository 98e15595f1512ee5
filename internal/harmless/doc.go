// Package harmless knows which settings count although somebody else may have written
// them: those whose key and value are in one table, table.md.
//
// Everything else that others wrote is a claim, to be approved. That a key is new does not
// make it harmless: it has to get a row.
package harmless
