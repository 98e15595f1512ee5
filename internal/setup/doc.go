// Package setup asks a person which provider and which model to use, tries the model, and writes
// both to the user's configuration. Keys are read from the environment and written nowhere.
package setup
