package config

import (
	"path/filepath"
	"strings"
)

// UserDir returns the directory of the user's configuration by jp's rules: the variable
// JP_GLOBAL_CONFIG_DIR, else the platform's default; "" if that has no absolute path, because the
// user has no home directory. It need not exist. goos is a runtime.GOOS, home the user's home
// directory.
func UserDir(getenv func(string) string, home, goos string) string {
	if dir := getenv("JP_GLOBAL_CONFIG_DIR"); dir != "" {
		rest, ok := strings.CutPrefix(dir, "~")
		if !ok || rest != "" && rest[0] != '/' {
			return filepath.Clean(dir)
		}
		return below(home, rest)
	}
	switch goos {
	case "darwin":
		return below(home, "Library", "Application Support", "jp")
	case "windows":
		return below(getenv("APPDATA"), "jp", "config")
	default:
		if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "jp")
		}
		return below(home, ".config", "jp")
	}
}

// below returns a path in an absolute directory, "" if the directory is not absolute: files in the
// working directory are not the user's configuration.
func below(dir string, names ...string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, filepath.Join(names...))
}
