// Package review shows the questions and answers of a branch to its reviewers.
//
// The result is posted in a comment of a pull request. Therefore the text of conversations is
// quoted and escaped there: it mentions no users, refers to no issues, and shows no images. Long
// texts are truncated, and the head of the comment counts the omissions.
package review
