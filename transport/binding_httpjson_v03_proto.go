package transport

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file changes the JSON of A2A 0.3's proto (package a2a.v1 of specification
// 0.3.0) into that of its JSON-RPC, and back. What it has no rule for stays as it
// is, so that what somebody has added survives.

// A change appends a value in its new form.
type change func(dst []byte, raw string) []byte

// object appends an object with its members renamed and changed. Members whose new
// name is "" are left out. head, unless it is "", is what it begins with.
func object(dst []byte, raw, head string, rule func(key string) (string, change)) []byte {
	dst = append(append(dst, '{'), head...)
	begun := head != ""
	rawjson.EachMember(raw, func(key, value string) bool {
		name, to := rule(key)
		if name == "" {
			return true
		}
		if begun {
			dst = append(dst, ',')
		}
		begun = true
		dst = append(append(append(dst, '"'), name...), `":`...)
		if to == nil || value == "null" {
			dst = append(dst, value...)
		} else {
			dst = to(dst, value)
		}
		return true
	})
	return append(dst, '}')
}

// only changes the member of that name.
func only(name string, to change) func(key string) (string, change) {
	return func(key string) (string, change) {
		if key == name {
			return key, to
		}
		return key, nil
	}
}

// each changes the elements of an array that are objects.
func each(to change) change {
	return func(dst []byte, raw string) []byte {
		if !rawjson.IsArray(raw) {
			return append(dst, raw...)
		}
		dst = append(dst, '[')
		begun := false
		rawjson.EachElement(raw, func(value string) bool {
			if begun {
				dst = append(dst, ',')
			}
			begun = true
			if rawjson.IsObject(value) {
				dst = to(dst, value)
			} else {
				dst = append(dst, value...)
			}
			return true
		})
		return append(dst, ']')
	}
}

// asObject changes a value if it is an object.
func asObject(to change) change {
	return func(dst []byte, raw string) []byte {
		if !rawjson.IsObject(raw) {
			return append(dst, raw...)
		}
		return to(dst, raw)
	}
}

// sendToProto changes the parameters of a message. A configuration always gets
// blocking: the proto takes its absence for false there, and for true where there is no
// configuration. twice: the bytes of files are in base64 twice.
func sendToProto(c *operation, params members, twice bool) members {
	c.hasFiles = false
	file := func(dst []byte, raw string) []byte {
		return object(dst, raw, "", func(key string) (string, change) {
			switch key {
			case "bytes":
				c.hasFiles = true
				if twice {
					return "fileWithBytes", func(dst []byte, raw string) []byte {
						return append(dst, quoted(base64.StdEncoding.EncodeToString([]byte(jsonText(raw))))...)
					}
				}
				return "fileWithBytes", nil
			case "uri":
				return "fileWithUri", nil
			}
			return key, nil
		})
	}
	for i, m := range params {
		switch m.key {
		case "message":
			params[i].value = rawjson.View(messageToProto(nil, m.value, file))
		case "configuration":
			head := ""
			if rawjson.Member(m.value, "blocking") == "" {
				head = `"blocking":true`
			}
			params[i].value = rawjson.View(object(nil, m.value, head, func(key string) (string, change) {
				if key == "pushNotificationConfig" {
					return "pushNotification", nil
				}
				return key, nil
			}))
		}
	}
	return params
}

// messageToProto leaves out what the proto does not have, because servers of the Python
// SDK refuse a message with a member that they do not know. The references to earlier
// tasks are among that; the agent finds these tasks by the context.
func messageToProto(dst []byte, raw string, file change) []byte {
	return object(dst, raw, "", func(key string) (string, change) {
		switch key {
		case "kind", "referenceTaskIds":
			return "", nil
		case "parts":
			return "content", each(partToProto(file))
		case "role":
			return key, roleToProto
		}
		return key, nil
	})
}

func roleToProto(dst []byte, raw string) []byte {
	switch role := readRole(raw); role {
	case a2a.RoleUser, a2a.RoleAgent:
		return strconv.AppendQuote(dst, "ROLE_"+strings.ToUpper(string(role)))
	}
	return append(dst, raw...)
}

func partToProto(file change) change {
	return func(dst []byte, raw string) []byte {
		return object(dst, raw, "", func(key string) (string, change) {
			switch key {
			case "kind":
				return "", nil
			case "data":
				return key, func(dst []byte, raw string) []byte { return append(append(append(dst, `{"data":`...), raw...), '}') }
			case "file":
				return key, asObject(file)
			}
			return key, nil
		})
	}
}
