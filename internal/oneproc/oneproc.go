// Package oneproc has a program that imports it begin on one processor.
//
// a2astdio serves an editor on one (internal/cli/serve). To take the others away later costs a tenth of a
// start: each has by then pages of the heap for most sizes of objects, which have to be handed back one by
// one. Nothing in main is early enough, since the packages' initialisation has run on all of them. This
// package imports the runtime alone, so that Go initialises it before nearly all others. Only main.go
// imports it; a command gets all processors back.
package oneproc

import "runtime"

var _ = runtime.GOMAXPROCS(1)
