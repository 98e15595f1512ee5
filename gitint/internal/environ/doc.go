// Package environ knows git's variables of the environment and the extensions of repositories: what
// each does to that which git reads.
//
// What it keeps true: every variable and every extension of the versions of git that the tables
// name has a treatment, and one that is in no table is reported, not ignored. Nothing is read from
// the environment of this process: lists are passed in.
package environ
