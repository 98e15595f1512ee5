// Package plain finds plain repositories without asking git: those whose location and format are
// certain, with the directory .git in the root of its working tree, the user's own, with SHA-1
// objects and refs in files, and with nothing in its configuration or in the environment that
// changes that.
//
// What it keeps true: a repository that it finds is the one that git finds, and for every other
// one, and if anything is not as git leaves it, it finds none. It starts no process.
package plain
