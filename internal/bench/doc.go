// Command bench compares git jp with programs that do the same work, side by side in one run, and
// prints a table of ratios for docs/performance.md. It promises ratios only: an absolute time says
// more about the machine than about the program.
//
// Each pair runs alternately, after one run of each that is not counted, and the median counts.
// Repositories are generated below a temporary directory.
package main
