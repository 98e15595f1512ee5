package config

import (
	"path/filepath"
	"strings"
)

// UserDir returns the directory of the user's configuration by jp's rules: the variable
// JP_GLOBAL_CONFIG_DIR, else the platform's default. It need not exist. goos is a runtime.GOOS,
// home the user's home directory.
func UserDir(getenv func(string) string, home, goos string) string {
	if dir := getenv("JP_GLOBAL_CONFIG_DIR"); dir != "" {
		if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/') {
			dir = home + rest
		}
		return filepath.Clean(dir)
	}
	switch goos {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "jp")
	case "windows":
		return filepath.Join(getenv("APPDATA"), "jp", "config")
	default:
		if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "jp")
		}
		return filepath.Join(home, ".config", "jp")
	}
}
