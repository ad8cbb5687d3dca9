package transport

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// readParts returns the list of parts at s[at:], empty if that is no list, and where it ends. Its parts
// are read when it is walked; only a single part of data, as tool calls are, is read at once: to find its
// end is most of the work.
func readParts(s string, at int, from *fastpath.Source) (parts a2a.Parts, end int) {
	if first := rawjson.NextElement(s[at:]); first >= 0 && !beginsWithText(s[at:]) {
		only := new(a2a.Part)
		end = rawjson.SkipSpace(s, readPart(s, at+first, from, only))
		if end < len(s) && s[end] == ']' && only.Kind == a2a.PartData {
			parts.Raw, parts.FastPath().Only = a2a.JSON(s[at:end+1]), only
			return parts, end + 1
		}
	}
	end = rawjson.SkipValue(s, at)
	if rawjson.IsArray(s[at:end]) {
		parts.Raw, parts.FastPath().Step = a2a.JSON(s[at:end]), nextPart
		parts.FastPath().Source = from
	}
	return parts, end
}

// nextPart decodes the first part of a list, or of what was left of one, and returns the rest; false if
// there is none.
func nextPart(raw string, from *fastpath.Source, p *a2a.Part) (rest string, ok bool) {
	at := rawjson.NextElement(raw)
	if at < 0 {
		return "", false
	}
	return raw[readPart(raw, at, from, p):], true
}

// beginsWithText reports whether the first part of a list may be text, by the part's first member:
// a text is not read before it is asked for.
func beginsWithText(raw string) (text bool) {
	at := rawjson.NextElement(raw)
	if at < 0 {
		return false
	}
	rawjson.Walk(raw, at, func(key string, at int) int {
		text = key == "text" || key != "data" && key != "file" && (key != "kind" || strings.HasPrefix(raw[at:], `"text"`))
		return len(raw)
	})
	return text
}

// readPart decodes the part at s[at:], of either generation: 0.3 says the kind and
// nests files, 1.x has members only. It returns where the part ends.
func readPart(s string, at int, from *fastpath.Source, p *a2a.Part) (end int) {
	lazy := p.FastPath().Lazy
	*p = a2a.Part{}
	p.FastPath().Lazy = lazy
	var kind, text, data, file string
	end = rawjson.Walk(s, at, func(key string, at int) int {
		end := skipLarge(s, at, from)
		value := s[at:end]
		if value == "null" && key != "data" {
			return end
		}
		switch key {
		case "kind":
			kind = jsonText(value)
		case "text":
			text = value
		case "data":
			data = value
		case "file":
			file = value
		case "metadata":
			p.Metadata = jsonObject(value)
		default:
			if readFile(key, value, &p.File) && (file == "" || value != `""`) {
				file = value
			}
		}
		return end
	})
	p.Raw = a2a.JSON(s[at:end])
	if rawjson.IsObject(file) {
		rawjson.EachMember(file, func(key, value string) bool { readFile(key, value, &p.File); return true })
	}
	proto := kind == "" && from != nil && from.Proto // one that names its kind is JSON-RPC's
	if kind == "" {
		kind = kindOf(text, data, file)
	}
	switch kind {
	case "text":
		setText(p, text, from)
	case "file":
		p.Kind = a2a.PartFile
	case "data":
		p.Kind, p.Data = a2a.PartData, a2a.JSON(data)
	}
	if proto {
		unwrapProto(p)
	}
	unwrapData(p)
	if p.Kind != a2a.PartFile {
		// 1.x allows a file name and a media type on any part; they stay in Raw.
		p.File = a2a.File{}
	}
	return end
}

// skipLarge is [rawjson.SkipValue], quicker for a value whose length from knows.
func skipLarge(s string, at int, from *fastpath.Source) (end int) {
	if from != nil {
		if n := from.Large.Len(s[at:]); n > 0 {
			return at + n
		}
	}
	return rawjson.SkipValue(s, at)
}

// setText makes p a part of text, if that is a JSON string or missing.
func setText(p *a2a.Part, text string, from *fastpath.Source) {
	if text == "" {
		text = `""`
	}
	if text[0] == '"' {
		p.Kind, p.TextJSON = a2a.PartText, a2a.JSON(text)
		if !p.FastPath().Lazy {
			p.Text, p.FastPath().Plain = decodeText(text, from), plain(text)
		}
	}
}

// decodeText is [jsonText] of a JSON string that may be long: what it has to unescape goes into
// from's room, if there is one, which is used again.
func decodeText(text string, from *fastpath.Source) string {
	if from == nil || strings.IndexByte(text, '\\') < 0 {
		return jsonText(text)
	}
	at := len(from.Text)
	from.Text = rawjson.AppendUnescaped(slices.Grow(from.Text, len(text)), text[1:len(text)-1])
	return rawjson.View(from.Text[at:])
}

// kindOf returns the kind of a part that does not name it: A2A 1.x tells it by the
// member that is there.
func kindOf(text, data, file string) string {
	switch {
	case text != "":
		return "text"
	case file == `""` && data != "" && data != "null":
		return "data" // the server leaves out no member that it has no value for
	case file != "":
		return "file"
	case data != "":
		return "data"
	}
	return ""
}

// readFile reads a member of a file into f: of 0.3's nested one, also by the names of its proto, or of
// 1.x's part. It passes over other members. content: it was the bytes or the URI, which may be empty.
func readFile(key, value string, f *a2a.File) (content bool) {
	switch key {
	case "bytes", "fileWithBytes", "raw":
		f.Bytes, content = jsonText(value), rawjson.IsString(value)
	case "uri", "fileWithUri", "url":
		f.URI, content = jsonText(value), rawjson.IsString(value)
	case "name", "filename":
		f.Name = jsonText(value)
	case "mimeType", "mediaType":
		f.MediaType = jsonText(value)
	}
	return content
}

// unwrapProto takes off what 0.3's proto has around a part's data, and its SDKs around a file's bytes.
func unwrapProto(p *a2a.Part) {
	if inner := rawjson.Member(string(p.Data), "data"); inner != "" {
		p.Data = a2a.JSON(inner)
	}
	p.File.Bytes = undoubleBase64(p.File.Bytes, p.File.MediaType)
}

// undoubleBase64 returns the base64 of a file's bytes, without a second one around it: the SDKs for Python
// and Go encode for 0.3's proto bytes that they hold in base64 already. Bytes that happen to look like
// base64 are short, or text, and do not decode to base64 again.
func undoubleBase64(outer, mediaType string) string {
	inner, err := base64.StdEncoding.DecodeString(outer)
	if err != nil || len(inner) == 0 {
		return outer
	}
	text, err := base64.StdEncoding.DecodeString(rawjson.View(inner))
	if err != nil || strings.HasPrefix(mediaType, "text/") && !utf8.Valid(text) {
		return outer
	}
	return rawjson.View(inner)
}

// compatMarker is what the Go and JS SDKs put into the metadata of a data part
// that is not an object in 1.x and had to become one, {"value":…}, in 0.3.
const compatMarker = "data_part_compat"

// unwrapData undoes what [compatMarker] says: p's data and metadata become what they are in 1.x, and
// only Raw has the marker.
func unwrapData(p *a2a.Part) {
	if p.Kind != a2a.PartData || !strings.Contains(string(p.Metadata), compatMarker) {
		return
	}
	var metadata map[string]json.RawMessage // behind that, since it is allocated
	if json.Unmarshal([]byte(p.Metadata), &metadata) != nil || string(metadata[compatMarker]) != "true" {
		return
	}
	if value := rawjson.Member(string(p.Data), "value"); value != "" {
		p.Data = a2a.JSON(value)
	}
	p.Metadata = ""
	if delete(metadata, compatMarker); len(metadata) > 0 {
		rest, _ := rawjson.Marshal(metadata) // it was JSON
		p.Metadata = a2a.JSON(rest)
	}
}

// stateNames are the names of the proto, and its numbers, for states; 0.3 has our own.
var stateNames = map[string]a2a.State{
	"TASK_STATE_SUBMITTED": a2a.StateSubmitted, "1": a2a.StateSubmitted,
	"TASK_STATE_WORKING": a2a.StateWorking, "2": a2a.StateWorking,
	"TASK_STATE_COMPLETED": a2a.StateCompleted, "3": a2a.StateCompleted,
	"TASK_STATE_FAILED": a2a.StateFailed, "4": a2a.StateFailed,
	"TASK_STATE_CANCELED": a2a.StateCanceled, "5": a2a.StateCanceled, "TASK_STATE_CANCELLED": a2a.StateCanceled,
	"TASK_STATE_INPUT_REQUIRED": a2a.StateInputRequired, "6": a2a.StateInputRequired,
	"TASK_STATE_REJECTED": a2a.StateRejected, "7": a2a.StateRejected,
	"TASK_STATE_AUTH_REQUIRED": a2a.StateAuthRequired, "8": a2a.StateAuthRequired,
}

// readState reads a state in either generation's name, in any case and with
// either separator, or as the number of the proto enum.
func readState(raw string) a2a.State {
	name := jsonText(raw)
	if s := a2a.State(name); slices.Contains(a2a.States(), s) { // as they mostly come
		return s
	}
	if s := stateNames[name]; s != "" {
		return s
	}
	name = strings.ReplaceAll(strings.ToUpper(name), "-", "_")
	return cmp.Or(stateNames["TASK_STATE_"+strings.TrimPrefix(name, "TASK_STATE_")], a2a.StateUnknown)
}

// readRole reads a role in either generation's name, or as its number.
func readRole(raw string) a2a.Role {
	switch name := jsonText(raw); {
	case name == "agent", name == "2", strings.EqualFold(name, "ROLE_AGENT"):
		return a2a.RoleAgent
	case name == "user", name == "1", strings.EqualFold(name, "ROLE_USER"):
		return a2a.RoleUser
	default:
		return a2a.Role(name)
	}
}

// artifactsOf yields the artifacts of a task. Those that follow each other with one ID are one: trpc-a2a-go
// (0.2.5, and v2 for A2A 1.0) keeps each piece of an artifact as an artifact. Each has a source of its own, if
// from, the event's, is any: the next is read before it is used.
func artifactsOf(raw string, from *fastpath.Source) iter.Seq[a2a.Artifact] {
	return func(yield func(a2a.Artifact) bool) {
		var same []a2a.Artifact
		over := false
		rawjson.EachElement(raw, func(value string) bool {
			var a a2a.Artifact
			readArtifact(value, 0, &a, from.Fresh())
			if len(same) > 0 && (a.ID == "" || a.ID != same[0].ID) {
				over = !yield(mergeArtifacts(same))
				same = same[:0]
			}
			same = append(same, a)
			return !over
		})
		if len(same) > 0 && !over {
			yield(mergeArtifacts(same))
		}
	}
}

// minGrown is how long a text has to be that one other is taken to have grown from: "no " and "no no" are two.
const minGrown = 8

// mergeArtifacts makes one artifact of some with one ID: with the parts of all, or of the last alone, if that
// has what the others have, since the artifact has grown or since it is the whole behind its pieces.
func mergeArtifacts(same []a2a.Artifact) a2a.Artifact {
	all := same[0]
	if len(same) == 1 {
		return all
	}
	var list []a2a.Part
	var pieces strings.Builder
	before, grows, last := "", true, len(same)-1
	for i, a := range same {
		text := a.Parts.Text()
		grows = grows && len(text) > len(before) && strings.HasPrefix(text, before)
		if i == last && (grows && (last > 1 || len(before) >= minGrown) || last > 1 && text != "" && text == pieces.String()) {
			all.Parts = a.Parts
			return all
		}
		for part := range a.Parts.All() {
			list = append(list, *part)
		}
		before = text
		pieces.WriteString(text)
	}
	all.Parts = a2a.Parts{}
	all.Parts.FastPath().List = list
	return all
}
