package cardsign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gowebpki/jcs"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// parseObject reads a JSON object as I-JSON (RFC 7493), as RFC 8785 §3.1 requires: it
// refuses duplicate members, halves of surrogates, and numbers beyond a double. Readers
// interpret these differently, so one signature would cover several cards.
//
// Values are map[string]any, []any, string, json.Number, bool and nil.
func parseObject(b []byte) (map[string]any, error) {
	b = bytes.Trim(b, " \t\r\n") // JSON's, fewer than Unicode's
	switch {
	case len(b) == 0 || b[0] != '{':
		return nil, errors.New("it is no JSON object")
	case !utf8.Valid(b):
		return nil, errors.New("it has bytes that are no UTF-8")
	case rawjson.TooDeep(b):
		return nil, fmt.Errorf("it nests deeper than %d levels", rawjson.MaxDepth)
	case !json.Valid(b):
		return nil, errors.New("it is no JSON object")
	}
	if _, err := jcs.Transform(b); err != nil {
		return nil, fmt.Errorf("readers do not agree on it: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		return nil, err
	}
	return object, nil
}

// pointer appends a member's name to a JSON pointer (RFC 6901).
func pointer(path, name string) string {
	return path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
