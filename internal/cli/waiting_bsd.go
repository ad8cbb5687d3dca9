//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package cli

// fionread asks how many bytes can be read at once: FIONREAD of <sys/filio.h>,
// which is the same on all of these.
const fionread = 0x4004667f
