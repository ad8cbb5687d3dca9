package task

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A download is one run of task download.
type download struct {
	p     *frame.Program
	c     *cli.Context
	link  *reach.Link
	agent *url.URL
	dir   string
	root  *os.Root // nil until the first file
	taken map[string]bool
}

func runDownload(p *frame.Program, c *cli.Context, l *reach.Link, id string) error {
	dir := c.String("dir")
	if info, err := os.Stat(dir); dir == "" || err == nil && !info.IsDir() {
		return frame.Usagef("--dir %s is no directory", dir)
	}
	how, err := l.Client.Chosen(c.Context)
	if err != nil {
		return err
	}
	task, err := l.Client.Get(c.Context, id, -1)
	if err != nil {
		return reach.DemoForgets(c, err)
	}
	d := &download{p: p, c: c, link: l, dir: dir, taken: map[string]bool{}}
	if d.agent, err = url.Parse(how.At.URL); err != nil {
		return err
	}
	defer d.close()
	return d.all(task)
}

func (d *download) close() {
	if d.root != nil {
		_ = d.root.Close() // only a directory handle
	}
}

// all writes a task's files. It reports a file that fails, and writes the others.
func (d *download) all(task *a2a.Event) error {
	found, failed := false, false
	for a := range a2a.Each(task.Artifacts) {
		for part := range a.Parts.All() {
			if part.Kind != a2a.PartFile {
				continue
			}
			found = true
			if err := d.file(&a, part.File); err != nil {
				if d.c.Context.Err() != nil {
					return frame.ErrInterrupted
				}
				failed = true
				d.p.Say("%v", err)
			}
		}
	}
	if !found {
		d.p.Say("the task has no files; task get shows what it has")
	}
	if failed {
		return frame.ErrFailed
	}
	return nil
}

func (d *download) file(a *a2a.Artifact, f a2a.File) error {
	name := d.name(a, f)
	if f.URI == "" {
		content, err := f.Content()
		if err != nil {
			return fmt.Errorf("agent: %s is not encoded in base64", name)
		}
		return d.write(name, strings.NewReader(string(content)))
	}
	u, err := url.Parse(f.URI)
	if err != nil {
		return fmt.Errorf("agent: the URL of %s is invalid: %q", name, f.URI)
	}
	u = d.agent.ResolveReference(u)
	if u.User != nil || !safe.SameOrigin(u, d.agent) {
		d.p.Say("not fetched, because it is not at the agent's origin: %s", f.URI)
		_, err := fmt.Fprintln(d.p.Stdout, frame.OneLine(safe.Plain(f.URI)))
		return err
	}
	body, err := d.link.Client.File(d.c.Context, u)
	if err != nil {
		return fmt.Errorf("agent: %s: %s", name, frame.WithoutWho(err))
	}
	defer body.Close()
	return d.write(name, body)
}

// write writes a file completely, or not at all, and says where.
func (d *download) write(name string, content io.Reader) (err error) {
	if d.root == nil {
		if err := os.MkdirAll(d.dir, 0o777); err != nil {
			return err
		}
		// A Root does not follow links that lead out of it, nor open a device of Windows.
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
		if err = d.root.Link(temp, name); err == nil {
			_ = d.root.Remove(temp)
		}
	}
	if errors.Is(err, errors.ErrUnsupported) || err == nil && d.c.Bool("force") {
		err = d.root.Rename(temp, name)
	}
	if err != nil {
		_ = d.root.Remove(temp)
		return fmt.Errorf("%s: %w", place, err)
	}
	_, err = fmt.Fprintf(d.p.Stdout, "%s  (%s)\n", safe.Plain(place), frame.Size(n))
	return err
}

// name returns a file's name: the agent's, without any path.
func (d *download) name(a *a2a.Artifact, f a2a.File) string {
	name := f.Name
	if u, err := url.Parse(f.URI); name == "" && f.URI != "" && err == nil {
		name = path.Base(u.Path)
	}
	name = cmp.Or(safe.FileName(name), safe.FileName(a.Name), "file")
	if path.Ext(name) == "" && f.Name == "" && strings.HasPrefix(f.MediaType, "text/") {
		name += ".txt"
	}
	free, ext := name, path.Ext(name)
	for i := 2; d.taken[strings.ToLower(free)]; i++ {
		free = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), i, ext)
	}
	d.taken[strings.ToLower(free)] = true
	return free
}
