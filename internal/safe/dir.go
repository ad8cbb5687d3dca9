package safe

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
)

// A kind of directory in which programs keep what is a user's, in each system.
type place struct{ xdg, windows, linux, windowsHome string }

var (
	state  = place{"XDG_STATE_HOME", "LocalAppData", ".local/state", "AppData/Local"}
	config = place{"XDG_CONFIG_HOME", "AppData", ".config", "AppData/Roaming"}
)

// StateDir is where the user's programs keep their state.
func StateDir() (string, error) { return state.dir(runtime.GOOS, os.Getenv, Home()) }

// ConfigDir is where the user's programs are configured.
func ConfigDir() (string, error) { return config.dir(runtime.GOOS, os.Getenv, Home()) }

// dir takes no relative path: XDG says so, and an agent's workspace may be the current
// directory. Without a home there is no directory, rather than one that others can write.
func (p place) dir(goos string, getenv func(string) string, home string) (string, error) {
	variable, below := p.xdg, p.linux
	switch goos {
	case "windows":
		variable, below = p.windows, p.windowsHome
	case "darwin":
		below = "Library/Application Support"
	}
	if dir := getenv(variable); filepath.IsAbs(dir) {
		return dir, nil
	}
	if home == "" {
		return "", fmt.Errorf("you have no home directory, and %s is not set", variable)
	}
	return filepath.Join(home, filepath.FromSlash(below)), nil
}

// Home is the user's home directory, "" if unknown. Some editors start agents with no
// variable but PATH.
func Home() string {
	if dir, err := os.UserHomeDir(); err == nil && filepath.IsAbs(dir) {
		return dir
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return ""
}
