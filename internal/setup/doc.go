// Package setup asks a person which provider and which model to use, tries the model, and has both
// written to the user's configuration. Keys are read from the environment and written nowhere.
package setup
