// Package harmless lists the settings that take effect although someone else may have written them:
// those whose key and value are in one table, table.md.
//
// Every other foreign setting is a claim, to be approved. A new key is not harmless by default: it
// needs a row.
package harmless
