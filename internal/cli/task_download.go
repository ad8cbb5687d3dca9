package cli

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// maxFileName is what file systems take, in bytes, less room for suffixes.
	maxFileName = 200
	// maxRedirects of a file: storage redirects once.
	maxRedirects = 3
)

func (p *program) taskDownloadCommand() *cli.Command {
	return taskCommandOf("download", "write the files that came of a task", p.download, help{
		intro: `Writes the files among a task's artifacts into a directory, and says where. The
agent names them, but not where they go: nothing is written outside of the
directory, nothing is replaced unless --force says so, and a name does not begin
with a dot. Files that the agent only points to are fetched if they are where
the agent is, since that is where your credentials may go; of others the URL is
shown.`,
		usage: []string{"a2astdio --agent URL task download [options] ID"},
		examples: []example{
			{"a2astdio task download 4f0c...", "into the current directory"},
			{"a2astdio task download --dir out 4f0c...", "into another one, which is made if need be"},
		},
	},
		&cli.StringFlag{Name: "dir", Value: ".", Usage: "`DIR`: where to write them"},
		&cli.BoolFlag{Name: "force", Usage: "replace files that are there"},
		outputFlag(`{"files":[{"path","url","mediaType","size"}]}`))
}

// A download is one run of task download.
type download struct {
	p      *program
	c      *cli.Context
	link   *link
	agent  *url.URL
	dir    string
	root   *os.Root // nil until the first file
	taken  map[string]bool
	files  []fileJSON
	failed bool
}

type fileJSON struct {
	Path  string `json:"path,omitempty"`
	URL   string `json:"url,omitempty"`
	Media string `json:"mediaType,omitempty"`
	Size  int64  `json:"size,omitempty"`
}

func (p *program) download(c *cli.Context) error {
	args, asJSON, err := p.inputs(c, "ID")
	if err != nil {
		return err
	}
	dir := c.String("dir")
	if info, err := os.Stat(dir); dir == "" || err == nil && !info.IsDir() {
		return usagef("--dir %s is no directory", dir)
	}
	l, err := p.reach(c)
	if err != nil {
		return err
	}
	defer l.close()
	how, err := l.client.Chosen(c.Context)
	if err != nil {
		return err
	}
	if args[0], err = p.taskID(c, l, args[0]); err != nil {
		return err
	}
	task, err := l.client.Get(c.Context, args[0], -1)
	if err != nil {
		return p.demoForgets(c, err)
	}
	d := &download{p: p, c: c, link: l, dir: dir, taken: map[string]bool{}, files: []fileJSON{}}
	if d.agent, err = url.Parse(how.At.URL); err != nil {
		return err
	}
	defer d.close()
	if err := d.all(task); err != nil {
		return err
	}
	if err := d.report(asJSON); err != nil {
		return err
	}
	if d.failed {
		return errFailed
	}
	return nil
}

func (d *download) close() {
	if d.root != nil {
		_ = d.root.Close() // only a directory handle
	}
}

// all writes a task's files. It reports a file that fails, and writes the others.
func (d *download) all(task *a2a.Event) error {
	if task.Artifacts == nil {
		return nil
	}
	for a := range task.Artifacts {
		for part := range a.Parts.All() {
			if part.Kind != a2a.PartFile {
				continue
			}
			if err := d.file(&a, part.File); err != nil {
				if d.c.Context.Err() != nil {
					return errInterrupted
				}
				d.failed = true
				d.p.say("%v", err)
			}
		}
	}
	return nil
}

func (d *download) file(a *a2a.Artifact, f a2a.File) error {
	name := d.name(a, f)
	if f.URI == "" {
		content, err := base64.StdEncoding.DecodeString(strings.TrimSpace(f.Bytes))
		if err != nil {
			content, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(strings.TrimSpace(f.Bytes), "="))
		}
		if err != nil {
			return fmt.Errorf("agent: %s is not encoded in base64", name)
		}
		return d.write(name, f.MediaType, strings.NewReader(string(content)))
	}
	u, err := url.Parse(f.URI)
	if err != nil {
		return fmt.Errorf("agent: the URL of %s is invalid: %q", name, f.URI)
	}
	u = d.agent.ResolveReference(u)
	if !sameOrigin(u, d.agent) {
		d.files = append(d.files, fileJSON{URL: f.URI, Media: f.MediaType})
		return nil
	}
	u.Host = d.agent.Host
	return d.fetch(u, name, f.MediaType)
}

// fetch gets a file from the agent, with its credentials.
func (d *download) fetch(u *url.URL, name, media string) error {
	next := d.link.http.RoundTripper
	if next == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		defer own.CloseIdleConnections()
		next = own
	}
	if wrap := d.link.http.Wrap; wrap != nil {
		next = wrap(next)
	}
	client := &http.Client{Transport: next, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || !sameOrigin(r.URL, d.agent) {
			return fmt.Errorf("it redirects to %s, and credentials go nowhere else", r.URL.Host)
		}
		return nil
	}}
	req, err := http.NewRequestWithContext(d.c.Context, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	for key, values := range d.link.http.Header {
		for _, v := range values {
			req.Header.Add(key, v)
		}
	}
	req.Header.Set("User-Agent", d.link.http.UserAgent)
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("agent: %s: %w", name, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("agent: %s cannot be fetched: HTTP %s", name, resp.Status)
	}
	return d.write(name, media, resp.Body)
}

// write writes a file completely, or not at all.
func (d *download) write(name, media string, content io.Reader) (err error) {
	if d.root == nil {
		if err := os.MkdirAll(d.dir, 0o777); err != nil {
			return err
		}
		// A Root does not follow links that lead out of it.
		if d.root, err = os.OpenRoot(d.dir); err != nil {
			return err
		}
	}
	place := filepath.Join(d.dir, name)
	if _, err := d.root.Lstat(name); !d.c.Bool("force") && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already: --force replaces it, --dir takes another directory", place)
	}
	temp := name + ".part"
	file, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(d.dir, temp), err)
	}
	n, err := io.Copy(file, content)
	err = errors.Join(err, file.Close())
	if err == nil && !d.c.Bool("force") {
		// Unlike a rename, a link never replaces a file that came in between.
		if err = d.root.Link(temp, name); err == nil || errors.Is(err, fs.ErrExist) {
			_ = d.root.Remove(temp)
		} else {
			err = d.root.Rename(temp, name) // for file systems without links
		}
	} else if err == nil {
		err = d.root.Rename(temp, name)
	}
	if err != nil {
		_ = d.root.Remove(temp)
		return fmt.Errorf("%s: %w", place, err)
	}
	d.files = append(d.files, fileJSON{Path: place, Media: media, Size: n})
	return nil
}

// name returns a file's name: the agent's, without any path.
func (d *download) name(a *a2a.Artifact, f a2a.File) string {
	name := f.Name
	if u, err := url.Parse(f.URI); name == "" && f.URI != "" && err == nil {
		name = path.Base(u.Path)
	}
	name = cmp.Or(fileName(name), fileName(a.Name), "file")
	if path.Ext(name) == "" && f.Name == "" {
		name += extension(f.MediaType)
	}
	free := name
	for i := 2; d.taken[strings.ToLower(free)]; i++ {
		ext := path.Ext(name)
		free = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), i, ext)
	}
	d.taken[strings.ToLower(free)] = true
	return free
}

// extension returns a media type's longest extension, which is the usual one, except
// for .jpeg, .html and .text.
func extension(media string) string {
	switch base, _, _ := mime.ParseMediaType(media); base {
	case "":
		return ""
	case "text/plain":
		return ".txt"
	case "text/markdown":
		return ".md"
	default:
		list, err := mime.ExtensionsByType(base)
		if err != nil || len(list) == 0 {
			return ""
		}
		slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
		return list[0]
	}
}

// windowsNames are devices on Windows, whatever their extension.
var windowsNames = []string{"con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9"}

// fileName turns what an agent calls a file into a name: the last element of a path,
// without characters that mean something else to a file system or a shell.
func fileName(s string) string {
	s = strings.ToValidUTF8(s, "_")
	s = s[strings.LastIndexAny(s, `/\`)+1:]
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || strings.ContainsRune(`<>:"|?*`, r) || plainText(string(r)) != string(r) {
			return '_'
		}
		return r
	}, s)
	s = strings.TrimRight(s, ". ")
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "-") {
		// A leading dot would hide the file, or have a program read it; a hyphen begins an
		// option.
		s = "_" + s[1:]
	}
	stem, _, _ := strings.Cut(s, ".")
	if slices.Contains(windowsNames, strings.ToLower(strings.TrimSpace(stem))) {
		s = "_" + s
	}
	if len(s) > maxFileName {
		ext := path.Ext(s)
		if len(ext) > 16 {
			ext = ""
		}
		stem := s[:maxFileName-len(ext)]
		for !utf8.ValidString(stem) {
			stem = stem[:len(stem)-1]
		}
		s = stem + ext
	}
	return s
}

// sameOrigin compares scheme, host and port. All names of this machine are equal.
func sameOrigin(a, b *url.URL) bool {
	norm := func(u *url.URL) string {
		host, port := strings.ToLower(u.Hostname()), u.Port()
		if host == "localhost" || host == "0.0.0.0" || host == "::1" || host == "::" {
			host = "127.0.0.1"
		}
		port = cmp.Or(port, map[string]string{"http": "80", "https": "443"}[u.Scheme])
		return u.Scheme + "://" + net.JoinHostPort(host, port)
	}
	return (a.Scheme == "http" || a.Scheme == "https") && a.User == nil && norm(a) == norm(b)
}

func (d *download) report(asJSON bool) error {
	if asJSON {
		return d.p.printJSON(map[string]any{"files": d.files})
	}
	if len(d.files) == 0 && !d.failed {
		d.p.say("the task has no files; task get shows what it has")
	}
	var out page
	for _, f := range d.files {
		if f.Path == "" {
			d.p.say("not fetched, because it is not at the agent's origin: %s", f.URL)
			out.b.WriteString(oneLine(plainText(f.URL)) + "\n")
			continue
		}
		fmt.Fprintf(&out.b, "%s  (%s)\n", plainText(f.Path), size(f.Size))
	}
	return d.p.show(&out)
}
