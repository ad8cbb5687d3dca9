package spell

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// fileMax is the largest file, in bytes of base64, that is handed on inline.
const fileMax = 4 << 20

// acpContent spells a part as an ACP content block; where there is none for it,
// note is what to say instead.
func acpContent(s *mapping.Step) (content []byte, note string) {
	p := s.Part
	name := cmp.Or(p.File.Name, s.Name, "file")
	member := func(key, value string) {
		content = append(content, `,"`+key+`":`...)
		content = rawjson.AppendString(content, value)
	}
	media, _, _ := strings.Cut(p.File.MediaType, "/")
	switch {
	case p.Kind == a2a.PartFile && p.File.URI != "":
		content = append(content, `{"type":"resource_link"`...)
		member("name", name)
		member("uri", p.File.URI)
		if p.File.MediaType != "" {
			member("mimeType", p.File.MediaType)
		}
		return append(content, '}'), ""
	case p.Kind == a2a.PartFile && len(p.File.Bytes) > fileMax:
		return nil, "[" + name + ": " + p.File.MediaType + ask.MoreNote(len(p.File.Bytes) / 4 * 3)[1:] + "]"
	case p.Kind == a2a.PartFile && (media == "image" || media == "audio"):
		content = append(content, `{"type":"`+media+`"`...)
		member("data", p.File.Bytes)
		member("mimeType", p.File.MediaType)
		return append(content, '}'), ""
	case p.Kind == a2a.PartFile:
		content = append(content, `{"type":"resource","resource":{"uri":`...)
		content = rawjson.AppendString(content, "attachment:"+name)
		if p.File.MediaType != "" {
			member("mimeType", p.File.MediaType)
		}
		member("blob", p.File.Bytes)
		return append(content, "}}"...), ""
	}
	raw := cmp.Or(string(p.Data), string(p.Raw))
	raw, rest := ask.Split(raw, textMax)
	note = "```json\n" + strings.TrimSpace(gjson.Get(raw, "@pretty").Raw) + "\n```\n"
	if rest != "" {
		note = "```json\n" + raw + ask.MoreNote(len(rest)) + "\n```\n"
	}
	return nil, note
}
