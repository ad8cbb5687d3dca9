package task

import (
	"encoding/base64"
	"strings"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// partSays describes a part that is no text.
func partSays(part *a2a.Part) string {
	f := part.File
	switch {
	case part.Kind == a2a.PartData:
		return "data: " + frame.Short(string(part.Data), frame.MaxValue)
	case part.Kind != a2a.PartFile:
		return "something of an unknown kind: " + frame.Short(string(part.Raw), frame.MaxValue)
	}
	text := "a file"
	if f.Name != "" {
		text += ", " + f.Name
	}
	if f.MediaType != "" {
		text += ", " + f.MediaType
	}
	if f.URI != "" {
		return text + ", at " + f.URI
	}
	return text + ", " + frame.Size(int64(base64.StdEncoding.DecodedLen(len(f.Bytes))-strings.Count(f.Bytes[max(0, len(f.Bytes)-2):], "=")))
}
