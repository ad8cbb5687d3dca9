package companion

import _ "embed"

// NeovimPlugin is the plugin for Neovim. It is carried in the program, because whoever
// has installed that has no clone of this repository.
//
//go:embed nvim.lua
var NeovimPlugin string
