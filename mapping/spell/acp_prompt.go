package spell

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func promptError(format string, args ...any) error {
	return &mapping.PromptError{Text: fmt.Sprintf(format, args...)}
}

// Prompt turns an ACP prompt into the parts of a message for the agent of card
// (nil if it is not known: then everything but text is put into words). What the
// agent's input modes do not allow is refused with a [mapping.PromptError], not dropped.
func Prompt(blocks []acp.ContentBlock, card *a2a.Card) ([]a2a.OutPart, error) {
	if len(blocks) == 0 {
		return nil, promptError("the prompt is empty: it takes at least one content block")
	}
	var parts []a2a.OutPart
	text := func(s string) { parts = append(parts, a2a.OutPart{Text: s}) }
	for i, b := range blocks {
		switch b.Type {
		case "text":
			if b.Text != "" {
				text(b.Text)
			}
		case "resource_link":
			if b.URI == "" {
				return nil, promptError("content block %d is a resource_link without a uri", i)
			}
			text("@" + localPath(b.URI))
		case "resource":
			part, err := resource(b.Resource, card)
			if err != nil {
				return nil, promptError("content block %d: %v", i, err)
			}
			parts = append(parts, part)
		case "image", "audio":
			if card != nil && !card.Takes(cmp.Or(b.MimeType, b.Type+"/*")) {
				return nil, promptError("the agent does not take %s (its card's input modes are %s)",
					cmp.Or(b.MimeType, b.Type), strings.Join(card.InputModes, ", "))
			}
			if _, err := base64.StdEncoding.DecodeString(b.Data); err != nil || b.Data == "" {
				return nil, promptError("content block %d: the %s's data is not base64", i, b.Type)
			}
			parts = append(parts, a2a.OutPart{File: &a2a.File{Bytes: b.Data, MediaType: b.MimeType, Name: baseName(b.URI)}})
		default:
			return nil, promptError("content block %d is of type %q: a2astdio takes text, resource, resource_link, image and audio", i, b.Type)
		}
	}
	if len(parts) == 0 {
		return nil, promptError("the prompt is empty: its text has no characters")
	}
	return parts, nil
}

// resource turns an embedded resource into a part: a file that the agent does not take into its name.
func resource(r *acp.EmbeddedResource, card *a2a.Card) (a2a.OutPart, error) {
	switch {
	case r == nil:
		return a2a.OutPart{}, fmt.Errorf("a resource block without a resource")
	case r.Text != nil:
		return a2a.OutPart{Text: "Content of " + localPath(r.URI) + ":\n" + *r.Text}, nil
	case r.Blob != nil:
		if card != nil && !card.Takes(cmp.Or(r.MimeType, "application/octet-stream")) {
			return a2a.OutPart{Text: fmt.Sprintf("@%s (%s, not sent: the agent takes no such files)", localPath(r.URI), cmp.Or(r.MimeType, "of an unknown type"))}, nil
		}
		if _, err := base64.StdEncoding.DecodeString(*r.Blob); err != nil {
			return a2a.OutPart{}, fmt.Errorf("the resource's blob is not base64")
		}
		return a2a.OutPart{File: &a2a.File{Bytes: *r.Blob, MediaType: r.MimeType, Name: baseName(r.URI)}}, nil
	}
	return a2a.OutPart{}, fmt.Errorf("a resource with neither text nor blob")
}

// localPath is a file URI's path, as agents know files; other URIs (editors have their own,
// zed://…), and those of another machine, stay what they are.
func localPath(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" || u.Host != "" && u.Host != "localhost" {
		return uri
	}
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = path[1:] // file:///C:/x is C:/x
	}
	return path
}

// baseName is the name of the file that a URI names.
func baseName(uri string) string {
	path := localPath(uri)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}
