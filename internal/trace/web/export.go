package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// maxPageBytes bounds the bytes of an exported page's records. A browser holds all of it in
// memory.
const maxPageBytes = 128 << 20

// Export writes the page with the trace in it, as one file. name is the trace's name.
func Export(r *trace.Reader, w io.Writer, name string) error {
	return export(r, w, name, maxPageBytes)
}

// export is Export with a bound for the bytes of records.
func export(r *trace.Reader, w io.Writer, name string, most int) error {
	ix := newIndex(r)
	var lines bytes.Buffer
	empty := 0
	for record, err := range r.All() {
		if err != nil {
			return err
		}
		ix.add(record, r.Position())
		if ix.omitted > 0 {
			continue
		}
		if len(ix.rows) > 1 {
			lines.WriteByte('\n')
		}
		if lines.Len()+len(r.Line()) <= most {
			lines.Write(r.Line())
		} else {
			empty++
		}
	}
	ix.markRead()
	h := ix.head(name)
	if empty > 0 {
		h.Notes = append(h.Notes, fmt.Sprintf("%d records are without their bytes in this page, which has %d MB of them: trace serve shows all", empty, most>>20))
	}
	return writePage(w, ix, h, lines.String())
}

// writePage writes index.html with its style, its scripts and, gzipped, the trace in it.
func writePage(w io.Writer, ix *index, h head, lines string) error {
	var packed bytes.Buffer // nothing of this can fail: it can be encoded, and goes to memory
	base := base64.NewEncoder(base64.StdEncoding, &packed)
	zip := gzip.NewWriter(base)
	headJSON, _ := json.Marshal(h)
	fmt.Fprintf(zip, `{"head":%s,"rows":%s,"spans":%s,"problems":%s,"lines":`, headJSON, ix.rowsFrom(0, len(ix.rows)), ix.spans(), ix.problems())
	_ = json.NewEncoder(zip).Encode(lines)
	fmt.Fprint(zip, "}")
	_, _ = zip.Close(), base.Close()
	page, _ := readFile("index.html") // this and the others are part of the program
	style, _ := readFile("style.css")
	var script bytes.Buffer
	tags := regexp.MustCompile(scriptTag)
	for i, tag := range tags.FindAllSubmatch(page, -1) {
		b, _ := readFile(string(tag[1]))
		if i > 0 {
			b = bytes.TrimPrefix(b, []byte("\"use strict\";\n"))
		}
		script.Write(b)
	}
	// Only the page's own scripts run, and nothing connects anywhere.
	policy := fmt.Sprintf("default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", hashOf(script.Bytes()), hashOf(style))
	page = bytes.Replace(page, []byte("<!--policy-->"), []byte(`<meta http-equiv="Content-Security-Policy" content="`+policy+`">`), 1)
	page = bytes.Replace(page, []byte(`<link rel="stylesheet" href="style.css">`), slices.Concat([]byte("<style>"), style, []byte("</style>")), 1)
	page = bytes.Replace(tags.ReplaceAll(page, nil), []byte("</body>"), slices.Concat([]byte("<script>"), script.Bytes(), []byte("</script>\n</body>")), 1)
	before, after, _ := bytes.Cut(page, []byte("<!--data-->"))
	all := net.Buffers{before, []byte(`<script type="application/octet-stream" id="trace">`), packed.Bytes(), []byte("</script>"), after}
	_, err := all.WriteTo(w)
	return err
}

// scriptTag is one of the page's, which are served as files, and stand in an exported page.
const scriptTag = `<script src="(\w+\.js)"></script>\n`

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return base64.StdEncoding.EncodeToString(sum[:])
}
