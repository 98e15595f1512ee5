// Package review shows what a branch asked and answered, for those who review it.
//
// It is read where others write, in the comment of a pull request: what a conversation says stands
// there quoted and escaped, calls nobody by name, refers to no issue, and shows no picture. What is
// too long is cut, and the head of the comment counts what was left out.
package review
