package transport

import (
	"net/url"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// members are those of a JSON object, in its order, as they are written.
type members []param

type param struct {
	key   string // without its quotes, and with its escapes
	value string
}

func readMembers(raw string) (m members) {
	rawjson.EachMember(raw, func(key, value string) bool {
		m = append(m, param{key, value})
		return true
	})
	return m
}

// get returns the value of a member; "" if there is none.
func (m members) get(key string) string {
	for _, x := range m {
		if x.key == key {
			return x.value
		}
	}
	return ""
}

// text returns a member that is a string, or a number.
func (m members) text(key string) string { return jsonText(m.get(key)) }

func (m members) without(key string) (rest members) {
	for _, x := range m {
		if x.key != key {
			rest = append(rest, x)
		}
	}
	return rest
}

// object appends the members as an object.
func (m members) object(dst []byte) []byte {
	dst = append(dst, '{')
	for i, x := range m {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, '"'), x.key...)
		dst = append(append(dst, `":`...), x.value...)
	}
	return append(dst, '}')
}

// query spells the members as a query (specification 1.0, §11.5): lists repeat the
// name, and nested values cannot be in one.
func (m members) query(what string) (string, error) {
	var q []string
	add := func(key, value string) {
		if value != "null" {
			q = append(q, escapeQuery(key)+"="+escapeQuery(scalar(value)))
		}
	}
	for _, x := range m {
		key := rawjson.Unescape(x.key)
		switch {
		case rawjson.IsObject(x.value):
			return "", failf(nil, "%s has no place for %s, which is an object: it goes in the URL", what, key)
		case rawjson.IsArray(x.value):
			rawjson.EachElement(x.value, func(value string) bool { add(key, value); return true })
		default:
			add(key, x.value)
		}
	}
	return strings.Join(q, "&"), nil
}

// escapeQuery escapes by RFC 3986, which has no plus for a space.
func escapeQuery(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// scalar is the text of a string, and any other value as it is written.
func scalar(value string) string {
	if rawjson.IsString(value) {
		return rawjson.Text(value)
	}
	return value
}

// fill puts members into the path of a route, and takes them off the list. first is
// the first of them: the task's ID, wherever there is one.
func fill(path string, m members, what string) (filled, first string, rest members, err error) {
	for {
		before, after, found := strings.Cut(path, "{")
		name, tail, _ := strings.Cut(after, "}")
		filled += before
		if !found {
			return filled, first, m, nil
		}
		value := m.text(name)
		switch value {
		case "":
			return "", "", nil, failf(nil, "%s needs a value of %s, which is in its path", what, name)
		case ".", "..":
			return "", "", nil, failf(nil, "%q is no ID that a path can hold", value)
		}
		filled += escapeSegment(value)
		if first == "" {
			first = value
		}
		m, path = m.without(name), tail
	}
}

// escapeSegment escapes one segment of a path. A colon is escaped as well: it separates
// the operation (:cancel).
func escapeSegment(s string) string { return strings.ReplaceAll(url.PathEscape(s), ":", "%3A") }
