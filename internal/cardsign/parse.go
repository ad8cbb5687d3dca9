package cardsign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// A number keeps its original text.
type number struct {
	text  string
	value float64
}

// parseObject reads a JSON object as I-JSON (RFC 7493), as RFC 8785 §3.1 requires: it
// refuses duplicate members, invalid Unicode, and numbers beyond a double. Readers
// interpret these differently, so one signature would cover several cards.
//
// Values are map[string]any, []any, string, number, bool and nil.
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
	if err := wholeSurrogates(b); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	v, err := parseValue(d, "")
	if err != nil {
		return nil, err
	}
	return v.(map[string]any), nil
}

// parseValue reads the next value. The caller has checked that it is JSON, and not too
// deep for the stack.
func parseValue(d *json.Decoder, path string) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return parseMembers(d, path)
		}
		list := []any{}
		for d.More() {
			v, err := parseValue(d, path+"/"+strconv.Itoa(len(list)))
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token() // the bracket
		return list, err
	case json.Number:
		f, err := strconv.ParseFloat(t.String(), 64)
		if err != nil {
			return nil, fmt.Errorf("%s is the number %.40s, which no double can hold", where(path), t)
		}
		return number{t.String(), f}, nil
	}
	return token, nil
}

func parseMembers(d *json.Decoder, path string) (any, error) {
	object := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name := token.(string)
		at := pointer(path, name)
		if _, twice := object[name]; twice {
			return nil, fmt.Errorf("it has %s twice", at)
		}
		if object[name], err = parseValue(d, at); err != nil {
			return nil, err
		}
	}
	_, err := d.Token() // the brace
	return object, err
}

// wholeSurrogates refuses a \ud83d without its second half, which has no form in UTF-8.
func wholeSurrogates(b []byte) error {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		i++
		if b[i] != 'u' {
			continue
		}
		unit := rawjson.EscapedUnit(string(b[i-1 : i+5]))
		i += 4
		if unit < 0xd800 || unit > 0xdfff {
			continue
		}
		if unit < 0xdc00 && i+6 < len(b) && b[i+1] == '\\' && b[i+2] == 'u' {
			if low := rawjson.EscapedUnit(string(b[i+1 : i+7])); low >= 0xdc00 && low <= 0xdfff {
				i += 6
				continue
			}
		}
		return fmt.Errorf("it has the half character \\u%04x, which is no Unicode", unit)
	}
	return nil
}

// pointer appends a member's name to a JSON pointer (RFC 6901).
func pointer(path, name string) string {
	escaped := make([]byte, 0, len(name))
	for i := range len(name) {
		switch name[i] {
		case '~':
			escaped = append(escaped, "~0"...)
		case '/':
			escaped = append(escaped, "~1"...)
		default:
			escaped = append(escaped, name[i])
		}
	}
	return path + "/" + string(escaped)
}

func where(path string) string {
	if path == "" {
		return "it"
	}
	return path
}
