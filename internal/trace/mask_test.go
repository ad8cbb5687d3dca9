package trace

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

var update = flag.Bool("update", false, "write testdata/masked.txt anew")

// masks works like the recorder.
func (m *masker) masks(b []byte) string {
	switch {
	case isDocument(b):
		return string(m.json(b, maxNested))
	case looksJSON(b):
		return m.text(string(m.json(b, maxNested)))
	}
	return m.text(string(b))
}

// TestMask: what its name or shape shows to be a credential is masked, and all else is
// unchanged.
func TestMask(t *testing.T) {
	m := newMasker(http.Header{"X-Gateway": {"hunter2-own/token+"}, "X-Env": {"dev"}, "Authorization": {"Basic Ym9iOmh1bnRlcjIyMg=="}}, []string{`quo"ted\secret`, "eve:letmein99"}, nil)
	const file = "testdata/masked.txt"
	var got strings.Builder
	for line := range strings.Lines(string(must.Get(os.ReadFile(file))(t))) {
		doc := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "= "):
		case doc == "" || strings.HasPrefix(line, "#"):
			got.WriteString(line)
		default:
			fmt.Fprintf(&got, "%s= %s\n", line, m.masks([]byte(doc)))
		}
	}
	must.Golden(t, *update, file, got.String())
}

// TestSieve: each word is found once, wherever it stands, in each of its spellings.
func TestSieve(t *testing.T) {
	s := newSieve([]string{"literal", "%2F\\u002f", "123456"})
	for i := range s.words {
		w := &s.words[i]
		for at := range 20 {
			for _, text := range []string{w.text, strings.ToUpper(w.text), strings.ToUpper(w.text[:1]) + w.text[1:]} {
				if text != w.text && !w.fold {
					continue
				}
				for _, filler := range []string{" ", "a", "\xff", "="} {
					b := []byte(strings.Repeat(filler, at) + text + strings.Repeat(filler, 20-at))
					found := 0
					s.each(b, 0, func(k int, v *word) {
						if k == at && v == w {
							found++
						}
					})
					if found != 1 {
						t.Fatalf("%s at %d in %q is found %d times", w.text, at, b, found)
					}
				}
			}
		}
	}
}

// FuzzScan: a payload counts as JSON if it is, and is JSON when it is masked.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,true,false,null,"x\n\u00e9",{}],"b":[]}`, `{"a":1,}`, `[1 2]`, `01`, `"\x"`, "\"\x01\"", `{"token":"x"}`,
		`{"name":"X-Key","value":"y"}`, `{"x-zone":["a"]}`, `{"text":"password=x"}`, `{"a":"sk-aaaaaaaaaaaaaaaaaaaa"}`, `{"a":"https:\/\/u:p@h"}`, `{"a":"{\"pwd\":1}"}`, ` [ ] `, `nul`, `{"a"}`, `[}`, `{]`, "[\n]", "\"\xff\""} {
		f.Add([]byte(s))
	}
	m := newMasker(nil, []string{"literal-secret"}, nil)
	m.noteWordHeader("X-Zone", "staple")
	f.Fuzz(func(t *testing.T, doc []byte) {
		valid := isDocument(doc)
		deep := bytes.Count(doc, []byte("["))+bytes.Count(doc, []byte("{")) >= maxDepth
		want := json.Valid(doc) && utf8.Valid(doc) && bytes.IndexByte(doc, '\n') < 0
		if valid != want && !deep {
			t.Fatalf("%q is JSON: %v, want %v", doc, valid, want)
		}
		if is := m.json(doc, maxNested); valid && !json.Valid(is) {
			t.Fatalf("%q becomes %q, which is no JSON", doc, is)
		}
	})
}

// FuzzMask: a named credential is masked whatever surrounds it, and so is one of the
// program's own.
func FuzzMask(f *testing.F) {
	f.Add(`{"token":"x","a":[{"b":"\u0041"}]}`, "api_key", 0)
	f.Add(`say "hello`, "Authorization", 1)
	f.Add(`password=`, "x", 2)
	f.Add("https://h/?a=", "db_password", 3)
	const secret = "planted-hunter2/+x"
	m := newMasker(nil, []string{secret}, nil)
	named := newMasker(nil, nil, nil)
	f.Fuzz(func(t *testing.T, around, name string, how int) {
		if !utf8.ValidString(around) || strings.Contains(around+name, "hunter2") || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			return
		}
		quoted, _ := json.Marshal(around)
		plant, _ := json.Marshal(around + secret + around)
		if got := m.masks([]byte(fmt.Sprintf(`{"a":%s}`, plant))); strings.Contains(got, "hunter2") {
			t.Fatalf("an own credential is left: %s", got)
		}
		nested, _ := json.Marshal(fmt.Sprintf(`{"a":%s}`, plant))
		if got := m.masks([]byte(fmt.Sprintf(`{"a":%s}`, nested))); strings.Contains(got, "hunter2") {
			t.Fatalf("a nested own credential is left: %s", got)
		}
		if !secretName(name) {
			return
		}
		doc := fmt.Sprintf([]string{`{"a":%s,"%s":"hunter2","b":1}`, `{"a":%s,"%s":["hunter2",{"x":"hunter2"}]}`, `{"a":%s,"t":"%s=hunter2"}`,
			`{"a":%s,"t":"https://h/?x=1&%s=hunter2"}`, `{"a":%s,"t":"{\"%s\": \"hunter2\"}"}`}[uint(how)%5], quoted, name)
		if got := named.masks([]byte(doc)); strings.Contains(got, "hunter2") {
			t.Fatalf("%s\nbecomes %s", doc, got)
		}
	})
}

// FuzzSplit: pieces of a text hide a credential, except for its first few bytes; pieces
// without one are unchanged.
func FuzzSplit(f *testing.F) {
	f.Add("the key is ", "hunter2-own-token", " and more", []byte{3, 14, 5})
	f.Add("password: ", "hunter2", " done", []byte{4, 4, 4})
	f.Add("use ", "sk-hunter2hunter2hunter2", ".", []byte{1, 1, 1, 1, 1})
	f.Add("Authorization: Bearer ", "hunter2-abcdefgh", "\n", []byte{9, 30})
	f.Add("https://user:", "hunter2pw", "@host/path", []byte{13, 3})
	m := newMasker(nil, []string{"hunter2-own-token"}, nil)
	f.Fuzz(func(t *testing.T, before, secret, after string, cuts []byte) {
		text := before + secret + after
		if !utf8.ValidString(text) || len(text) > 4000 || len(cuts) == 0 || strings.Contains(before+after, "hunt") || strings.Contains(text, stars) {
			return
		}
		whole := m.text(text)
		if strings.Contains(whole, "hunter2") {
			return // no credential, as far as one can tell from the whole
		}
		var s textTail
		e := encoder{mask: m}
		var got strings.Builder
		rest := text
		for i := 0; len(rest) > 0; i++ {
			n := min(len(rest), 1+int(cuts[i%len(cuts)]))
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			piece, _ := json.Marshal(map[string]string{"text": rest[:n]})
			rest = rest[n:]
			p := wholePayload(piece)
			l := e.outline(p, &s)
			m.tail = &s
			out := e.maskBytes(p, &l)
			m.tail = nil
			var decoded struct{ Text string }
			must.Do(t, json.Unmarshal(out, &decoded))
			got.WriteString(decoded.Text)
		}
		if strings.Contains(got.String(), "hunter2") && len(text) > 0 {
			t.Fatalf("%q in pieces %v becomes %q, as a whole %q", text, cuts, got.String(), whole)
		}
	})
}

// TestAlike: a document that differs from the one before in texts alone is masked like any other, and
// what is seen in it is the same, though it may have moved.
func TestAlike(t *testing.T) {
	e := newEncoder(&Options{Secrets: []string{"hunter2-own"}})
	first := `{"jsonrpc":"2.0","id":1,"result":{"kind":"%[1]s","zone":["z"],"text":"%[2]s","end":"%[1]s"}}`
	for _, format := range []string{first, `{"result":{"kind":"%[1]s","text":"%[2]s"},"jsonrpc":"2.0","id":"%[1]s"}`, `{"result":{},"text":"%[2]s"}`,
		`{"text":"%[2]s","result":[],"method":"a","params":{"b":"%[1]s","sessionId":"s"}}`} {
		var s textTail
		alike := 0
		for _, v := range []string{"a", "b", "c", "d é", "token=x", `{\"token\":\"x\"}`, "agent-settings", `hunter2-\u006fwn`, "", "e"} {
			for _, text := range []string{"so", " and on", " sk-abcdefghijklmnopqrst ", `\n`} {
				doc := fmt.Sprintf(format, v, text)
				p := wholePayload([]byte(doc))
				l := e.outline(p, &s)
				want, seen := e.mask.masks(p.b), outlineOf(p.b)
				got := string(e.payload(nil, p, &l, &s, modeOpen))
				must.Equal(t, strings.HasPrefix(got, `,"json":`+want), true, doc, got, want)
				if l.onlyText.to > 0 {
					alike++
				}
				l.onlyText = (span{})
				must.Equal(t, l, seen, doc)
			}
		}
		must.True(t, alike >= 20, alike, "are like the one before", format)
	}
	var s textTail
	for i, doc := range []string{fmt.Sprintf(first, "e", "a"), fmt.Sprintf(first, "e", "a") + "x", fmt.Sprintf(first, "e", `\x`)} {
		p := wholePayload([]byte(doc))
		l := e.outline(p, &s)
		e.payload(nil, p, &l, &s, modeOpen)
		must.True(t, l.valid != (i > 0), doc, "is JSON", l.valid)
	}
}

// TestRuns: a text of nothing but words is read once, and not from each word to its end; and what is
// masked is what is masked if each word is looked at alone.
func TestRuns(t *testing.T) {
	m := newMasker(nil, nil, nil)
	parts := []string{"password=", "token=[", "]", "{", "sk-", "xoxa-", "ya29.", "eyJ-", ".", "?token=", "&", "pass=", "key", "'", "abcdefgh0123456789", " ", "-----BEGIN PRIVATE KEY-----", "-----END", "https://h/?a="}
	for _, a := range parts {
		m.find([]byte(strings.Repeat(a, 1<<17/len(a))), 0, inText)
	}
	var r runs
	m.sieve.each([]byte("eyJ-eyJ-eyJ-.eyJ-12345.abc"), 0, func(at int, w *word) {
		w.span([]byte("eyJ-eyJ-eyJ-.eyJ-12345.abc"), at, &r)
		if first := r[charsDash]; at < 12 && first != (span{3, 12}) {
			t.Errorf("of the token at %d, the first part is known as %v: the next one reads it again", at, first)
		}
	})
	for n := range 1000 {
		var b []byte
		for k := n + 1; len(b) < 200; k = k*31%9973 + 1 {
			b = append(b, parts[k%len(parts)]...)
		}
		var alone []span
		m.sieve.each(b, 0, func(at int, w *word) {
			if s, ok := inText.span(w, b, at, new(runs)); ok {
				alone = append(alone, s)
			}
		})
		got, _ := m.find(b, 0, inText)
		if want := merge(alone); !slices.Equal(got, want) {
			t.Fatalf("%s\nhas %v, not %v", b, got, want)
		}
	}
}

// TestNotedIsBounded: what a client sends as a body is not kept, however long it is.
func TestNotedIsBounded(t *testing.T) {
	m := newMasker(nil, nil, nil)
	m.noteSecret(strings.Repeat("a1", maxNoted), false)
	must.Equal(t, len(m.literals), 0, "texts that are looked for")
}

// TestMethodIsBounded: of a method that no record repeats, no more is kept until its reply.
func TestMethodIsBounded(t *testing.T) {
	w := newWorker(io.Discard, new(Options), time.Now())
	w.editorLine(&item{kind: itemLine}, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"%s"}`, strings.Repeat("a", 1<<16)))
	n := len(w.pending[0]["1"])
	must.True(t, n <= maxName, n, "bytes are kept")
}

// TestShortSpelling: a credential may be shorter in one of its spellings than what is looked for.
func TestShortSpelling(t *testing.T) {
	m := newMasker(nil, []string{`\u003c`, `""""""`}, nil)
	must.Equal(t, m.text(`it is \u003c, and a <, \< and a "`), `it is ***, and a <, \< and a "`)
}

// TestNotedPhrase: a passphrase in a header that no list names is masked where the agent
// repeats it; a single word there, and several in settings or in a body of text, may be any of
// the conversation: the word is masked in headers, queries and settings, and with its name.
func TestNotedPhrase(t *testing.T) {
	m := newMasker(nil, nil, nil)
	m.noteHeader("correct horse battery", false)
	m.noteWordHeader("X-Zone", "staple")
	m.fromClient = true
	m.json([]byte(`{"metadata":{"agentSettings":{"zone":"Central Europe Time"}}}`), maxNested)
	m.noteSecret("look at the weather", false) // as a body of text is
	m.noteWordHeader("X-Zone", "Zone battery")
	for said, want := range map[string]string{`got {"X-Zone": "staple"}`: `got {"***"}`, "x-zone=staple": "***", `{"headers":{"x-zone":"staple"}}`: `{"headers":{"x-zone":"***"}}`,
		`{"headers":{"X-Zone" : ["staple"]}}`: `{"headers":{"X-Zone" : ["***"]}}`} {
		must.Equal(t, m.masks([]byte(said)), want, said)
	}
	must.Equal(t, m.header(http.Header{"Via": {"1.1 staple, Zone battery"}})["Via"][0], "1.1 ***, Zone ***")
	must.Equal(t, m.header(http.Header{"Location": {"https://h/?q=staple"}})["Location"][0], "https://h/?q=***")
	settings := string(m.json([]byte(`{"agentSettings":{"name":"staple","mode":"staples"}}`), maxNested))
	must.Equal(t, settings, `{"agentSettings":{"name":"***","mode":"staples"}}`)
	shown := m.text("correct horse battery, staple; look at the weather in Central Europe Time")
	must.Equal(t, shown, "***, staple; look at the weather in Central Europe Time")
}
