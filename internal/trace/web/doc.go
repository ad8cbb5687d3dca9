// Package web shows a trace in a browser: as a page that is served on this
// machine, or as one file with the trace in it.
//
// The page is in page/: plain scripts and a style sheet, embedded in page.json.gz
// (go generate), without a framework and without anything from a network. What is untrusted, which is all
// that a trace holds, gets into it as text and never as markup, and a content
// security policy lets no other script run. It is drawn from rows ([row]), which
// package view has made; the records themselves it asks for one by one.
package web
