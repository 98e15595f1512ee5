// Command metrics prints the figures of the code beside the limits that CONTRIBUTING sets: lines
// of rooms and files, sizes of functions and of types, exported names. It reads the code that is
// no test below the working directory and fails for none of them: how far off a figure is, is
// for people to judge.
package main
