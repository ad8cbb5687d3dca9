// Package export writes traces for other programs: as a transcript for the
// project's own tests, as HAR for the browsers' tools, as spans for OpenTelemetry,
// for the trace viewer of the ACP project, and as a bundle for a bug report.
package export
