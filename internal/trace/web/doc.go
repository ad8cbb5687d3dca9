// Package web shows a trace in a browser: as a page served on this machine, as one file
// with the trace in it, or, as HAR, in the browser's own network panel.
//
// The page is in page/: plain scripts and a style sheet, embedded as they are. It
// uses no framework, and nothing from a network. A trace is untrusted:
// the page inserts it as text, never as markup, and a content security policy blocks
// all other scripts. The page shows rows ([row]) made by package view, and fetches
// single records when needed.
package web
