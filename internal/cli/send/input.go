package send

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// prompt builds the prompt. It reads stdin only for "-": a command in a loop must not
// take the loop's input.
func prompt(p *frame.Program, c *cli.Context) (string, error) {
	args := c.Args().Slice()
	at := -1
	for i, arg := range args {
		switch {
		case arg != "-", p.Before >= 0 && i >= p.Before: // behind -- all is text
		case at >= 0:
			return "", frame.Usagef("- stands twice, but stdin can be read once: put a - that is text behind --")
		default:
			at = i
		}
	}
	if at < 0 {
		text := strings.Join(args, " ")
		if strings.TrimSpace(text) == "" && len(frame.StringsOf(c, "attach")) == 0 {
			return "", frame.Usagef("what is the prompt? Say send \"…\", or send - to read it from stdin")
		}
		return text, nil
	}
	if frame.IsTerminal(p.Stdin) {
		p.Say("the prompt is read from the terminal: Ctrl-D ends it")
	}
	piped, err := p.ReadPrompt(c.Context)
	if err != nil {
		return "", err
	}
	blocks := []string{strings.Join(args[:at], " "), piped, strings.Join(args[at+1:], " ")}
	text := strings.Join(slices.DeleteFunc(blocks, func(block string) bool { return block == "" }), "\n\n")
	if strings.TrimSpace(text) == "" {
		return "", frame.Usagef("the prompt is empty: there is nothing on stdin")
	}
	return text, nil
}

// maxAttached bounds the attachments of one message. They travel in one JSON document,
// a third larger as base64, and many agents take requests of about ten megabytes at
// most.
const maxAttached = 20 << 20

// An attachment is a file that is sent with a prompt.
type attachment struct {
	name    string // as the user wrote it
	content []byte
	media   string // without parameters
	text    bool   // can be read as text
}

// readAttachments reads the files of --attach. It reports what cannot be sent before
// anything is sent.
func readAttachments(names []string) ([]attachment, error) {
	var all []attachment
	left := int64(maxAttached)
	for _, name := range names {
		a, err := readAttachment(name, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(a.content))
		all = append(all, a)
	}
	return all, nil
}

func readAttachment(name string, left int64) (attachment, error) {
	if name == "-" {
		return attachment{}, frame.Usagef("--attach takes files: stdin is a part of the prompt, where a - stands in it")
	}
	f, err := os.Open(name)
	if err != nil {
		return attachment{}, frame.Usagef("--attach: %v", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, left+1))
	switch {
	case err != nil: // of a directory, too
		return attachment{}, frame.Usagef("--attach: %v", err)
	case int64(len(b)) > left:
		return attachment{}, frame.Usagef("--attach: with %s there is more than %d MiB, which is all that one message takes; an agent that works in this directory can read it by its name",
			name, maxAttached>>20)
	case len(b) == 0:
		return attachment{}, frame.Usagef("--attach: %s is empty", name)
	}
	a := attachment{name: name, content: b}
	a.media, a.text = mediaType(name, b)
	return a, nil
}

// mediaType tells a file's type: by its name, or by its content where the name tells
// nothing or is wrong about whether it is text.
func mediaType(name string, content []byte) (media string, text bool) {
	text = utf8.Valid(content) && !bytes.ContainsRune(content, 0)
	media, _, _ = mime.ParseMediaType(cmp.Or(mime.TypeByExtension(strings.ToLower(filepath.Ext(name))), http.DetectContentType(content)))
	switch {
	case isText(media) == text:
		return media, text
	case text:
		return "text/plain", true
	}
	return "application/octet-stream", false // text in an encoding that JSON cannot carry, or no text at all
}

func isText(media string) bool {
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml") ||
		slices.Contains([]string{"application/json", "application/xml", "application/javascript", "application/yaml", "application/toml", "application/sql"}, media)
}

// part makes a part of an attachment, for an agent with this card. Text goes as text
// unless the agent names its exact type: every agent reads text, and many overlook
// files.
func (a *attachment) part(card *a2a.Card) (a2a.OutPart, error) {
	base := filepath.Base(a.name)
	takes := card.Takes(a.media)
	takesText := card.Takes("text/plain") || slices.Contains(card.InputModes, "text")
	exact := takes && len(card.InputModes) > 0
	switch {
	case a.text && (a.media == "text/plain" || !exact) && takesText:
		return a2a.OutPart{Text: "Content of " + base + ":\n" + string(a.content)}, nil
	case takes:
		return a2a.OutPart{File: &a2a.File{Name: base, MediaType: a.media, Bytes: base64.StdEncoding.EncodeToString(a.content)}}, nil
	}
	return a2a.OutPart{}, frame.Usagef("--attach: %s is %s, and the agent takes %s", a.name, a.media, strings.Join(card.InputModes, ", "))
}

func parts(prompt string, files []attachment, card *a2a.Card) ([]a2a.OutPart, error) {
	var all []a2a.OutPart
	if prompt != "" {
		all = append(all, a2a.OutPart{Text: prompt})
	}
	for i := range files {
		part, err := files[i].part(card)
		if err != nil {
			return nil, err
		}
		all = append(all, part)
	}
	return all, nil
}
