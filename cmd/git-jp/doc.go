// Command git-jp keeps conversations with language models in Git. Git finds it as the subcommand
// `git jp`.
//
// Commands are adapters: each parses its flags, builds a request, calls one feature and prints the
// answer. No rule of the format is here. Everything that the program takes from outside (arguments,
// environment, directory, clock, streams) enters through one struct in main.go; failures are
// reported in report.go, and nowhere else.
package main
