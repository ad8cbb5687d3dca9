package a2a

import (
	"strings"
	"testing"
)

func TestCardTakes(t *testing.T) {
	for _, test := range []struct {
		modes, media string
		want         bool
	}{
		{"", "image/png", true},
		{"text", "image/png", false},
		{"text", "text/csv", false}, // text is that of a prompt
		{"text/plain; charset=utf-8", "text/plain", true},
		{"text/plain application/json", "application/pdf", false},
		{"image", "image/png", true},
		{"image/png", "image/jpeg", false},
		{"image/png", "image/*", true},
		{"image/*", "image/jpeg", true},
		{"audio/wav", "image/*", false},
		{"file", "image/png", true},
		{"*", "audio/wav", true},
		{"*/*", "audio/*", true},
	} {
		if got := (&Card{InputModes: strings.Fields(test.modes)}).Takes(test.media); got != test.want {
			t.Errorf("%q takes %s: %t", test.modes, test.media, got)
		}
	}
}
