package mapping

import (
	"testing"

	"github.com/tidwall/gjson"
)

// TestFill: the user's words become the values of a form, or are refused and not sent.
func TestFill(t *testing.T) {
	schema := gjson.Parse(`{"type":"object","required":["name","size"],"properties":{"name":{"type":"string","title":"The name"},"size":{"type":"integer"},
		"kind":{"type":"string","oneOf":[{"const":"a","title":"First, or so"},{"const":"b","title":"Second"}]},"tags":{"type":"array","items":{"enum":["x","y"]}},"ok":{"type":"boolean"}}}`)
	fields := schemaFields(schema)
	for _, c := range []struct{ words, want string }{
		{"Ann\n3", `{"name":"Ann","size":3}`},
		{"Ann\n3\nsecond\nx, Y\nyes", `{"name":"Ann","size":3,"kind":"b","tags":["x","y"],"ok":true}`},
		{"Ann\n3\n\n\nno", `{"name":"Ann","size":3,"ok":false}`},
		{"Ann\n3\nFirst, or so", `{"name":"Ann","size":3,"kind":"a"}`},
		{"size: 3\nThe Name: Ann: the second", `{"name":"Ann: the second","size":3}`},
		{`{"size":3,"name":"Ann"}`, `{"name":"Ann","size":3}`},
		{`{"size":3,"name":"Ann","other":1}`, ""},
		{"Ann", ""},
		{"Ann\nthree", ""},
		{"Ann\n3.5", ""},
		{"Ann\n3\nthird", ""},
		{"Ann\n3\na\nz", ""},
		{"Ann\n3\na\nx\nperhaps", ""},
		{"Ann\n3\na\nx\nyes\nand more", ""},
	} {
		values, err := fill(fields, c.words)
		got := ""
		if err == nil {
			got = string(filled(fields, values))
		}
		if got != c.want {
			t.Errorf("%q becomes %s (%v), want %s", c.words, got, err, c.want)
		}
	}
	one := schemaFields(gjson.Parse(`{"anyOf":[{"type":"integer"},{"type":"null"}]}`))
	if v, err := fill(one, " 7 "); err != nil || filled(one, v) != "7" {
		t.Errorf("an optional number becomes %s, %v", v, err)
	}
	question := []field{questionField(gjson.Parse(`{"question":"Which?","multiSelect":true,"options":[{"label":"x"},{"label":"a, b"}]}`))}
	for words, want := range map[string]string{"x, other": `["x","other"]`, "A, B": `["a, b"]`, "x": `["x"]`} {
		if v, err := fill(question, words); err != nil || string(v[0]) != want {
			t.Errorf("%q becomes %s, %v, want %s", words, v[0], err, want)
		}
	}
}
