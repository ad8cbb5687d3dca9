package companion

import _ "embed"

// The plugins are carried in the program, because whoever has installed that has no clone of
// this repository.
var (
	//go:embed nvim.lua
	NeovimPlugin string
	//go:embed emacs.el
	EmacsPlugin string
)
