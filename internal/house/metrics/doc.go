// Command metrics prints the figures of the code beside the limits that CONTRIBUTING sets: lines of
// packages and files, sizes of functions and of types, exported names. It reads the code below the
// working directory, except tests, and never fails for a figure: people judge how far off it is.
package main
