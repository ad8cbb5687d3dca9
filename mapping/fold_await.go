package mapping

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// maxAwaited is how much of a text is awaited, maxAwaiting of how many texts.
const (
	maxAwaited  = 64 << 10
	maxAwaiting = 64
)

// awaited is what a snapshot has brought of texts, while the events before that came: the
// stream has still to bring it.
type awaited map[*shown]string

// await notes text that a snapshot brings. It keeps a copy: the event's buffer is used again.
func (f *Fold) await(sh *shown, text string) {
	if !f.awaits {
		return
	}
	known, ok := f.loss.awaited[sh]
	if len(known)+len(text) > maxAwaited || !ok && len(f.loss.awaited) == maxAwaiting {
		return
	}
	if f.loss.awaited == nil {
		f.loss.awaited = awaited{}
	}
	f.loss.awaited[sh] = known + strings.Clone(text)
}

// said leaves of what is awaited what is behind the events that have come. If they are at
// its end, or it has them more than once, nothing of that text is awaited.
func (a awaited) said(f *Fold, events []a2a.Event) {
	if len(a) == 0 {
		return
	}
	come := awaited{}
	for i := range events {
		if sh, text := f.textOf(&events[i]); sh != nil {
			come[sh] += text
		}
	}
	for sh, text := range come {
		_, behind, found := strings.Cut(a[sh], text)
		if !found || text == "" || behind == "" || strings.Contains(behind, text) {
			delete(a, sh)
			continue
		}
		a[sh] = behind
	}
}

// aWhole reports whether a text is awaited that may be the whole of messages that come before
// it: an artifact, or a message of which the beginning was shown in others.
func (a awaited) aWhole(t *texts) bool {
	for sh := range a {
		if sh.artifact || slices.ContainsFunc(t.ahead, func(x ahead) bool { return x.text == sh }) {
			return true
		}
	}
	return false
}

// textOf returns the text of a message, or an artifact, of the stream.
func (f *Fold) textOf(ev *a2a.Event) (sh *shown, text string) {
	switch {
	case ev.Kind == a2a.EventArtifact:
		return f.texts.of(ev.Artifact.ID, true), wholeText(ev.Artifact.Parts)
	case ev.HasMessage && ev.Message.Role != a2a.RoleUser:
		return f.texts.of(ev.Message.ID, false), wholeText(ev.Message.Parts)
	}
	return nil, ""
}

// comesLate reports whether a piece is one that was awaited. Any other tells that it does
// not come, unless the agent holds no more than the newest piece of a message: then others
// come before it. follows: it is appended to those before.
func (f *Fold) comesLate(sh *shown, text string, follows bool) bool {
	a, ok := f.loss.awaited[sh]
	if !ok || text == "" {
		return false
	}
	comes := strings.HasPrefix(a, text) && (follows || len(a) == sh.n)
	if !comes && sh.lacking && !sh.artifact {
		return false
	}
	if delete(f.loss.awaited, sh); !comes {
		return false
	}
	if a = a[len(text):]; a != "" {
		f.loss.awaited[sh] = a
	}
	return true
}
