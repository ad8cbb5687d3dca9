package trace

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/check"
	"github.com/a2astdio/a2astdio/internal/trace/view"
)

func traceShow(p *frame.Program, c *cli.Context) error {
	r, file, err := openTraceFile(p, c)
	if err != nil {
		return err
	}
	defer r.Close()
	if c.Bool("follow") && file == "-" {
		return frame.Usagef("--follow needs a file: stdin is read until it ends anyway")
	}
	s := &shower{c: c, r: r, json: c.String("output") == frame.JSON, out: bufio.NewWriter(p.Stdout),
		filter: &view.Filter{Method: c.String("method"), Session: c.String("session"), Bad: c.Bool("failed")}}
	s.printer = &printer{w: s.out, style: frame.StyleOf(p.Stdout), calls: map[string]string{}}
	s.width, _ = strconv.Atoi(os.Getenv("COLUMNS")) // 0 for what is no number
	if s.width <= 0 && frame.IsTerminal(p.Stdout) {
		s.width = frame.WidthOf(p.Stdout)
	}
	if s.width > 0 {
		s.width = max(s.width, minWidth)
	}
	s.check = check.New(&check.Options{Report: func(f *check.Finding) { s.found = append(s.found, *f) }})
	err = s.run()
	if flushErr := s.out.Flush(); err == nil {
		err = flushErr
	}
	noteTrace(p, r)
	return err
}

type shower struct {
	*printer
	c      *cli.Context
	r      *trace.Reader
	json   bool
	out    *bufio.Writer
	filter *view.Filter
	check  *check.Checker
	found  []check.Finding // with the last record
}

var errFound = errors.New("found")

func (s *shower) run() error {
	for {
		rec, err := s.r.Next()
		switch {
		case err == nil:
			if err = s.record(rec); errors.Is(err, errFound) {
				return nil
			}
		case err == io.EOF && s.c.Bool("follow"):
			if err = s.out.Flush(); err == nil {
				err = s.r.Wait(s.c.Context)
			}
		case err == io.EOF && frame.IsSet(s.c, "record"):
			return errors.New("trace: there is no record " + s.c.String("record"))
		case err == io.EOF:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *shower) record(rec *trace.Record) error {
	if s.mode == "" { // the first record tells the kind of trace
		if s.mode = cmp.Or(rec.Mode, "bridge"); !s.json && !frame.IsSet(s.c, "record") {
			if err := s.legend(rec, time.Local); err != nil {
				return err
			}
		}
	}
	it := view.Of(rec)
	s.found = s.found[:0]
	if s.check.Add(rec); rec.Kind == trace.KindStop {
		s.check.End()
	}
	for _, f := range s.found {
		it.Bad = it.Bad || f.Record == rec.N
	}
	picked := s.filter.Picks(rec, &it) || s.c.Bool("failed") && len(s.found) > 0
	switch {
	case frame.IsSet(s.c, "record"):
		if rec.N != int64(s.c.Int("record")) {
			return nil
		}
		err := s.full(rec, &it)
		for i := range s.found {
			err = errors.Join(err, s.finding(&s.found[i]))
		}
		return errors.Join(err, errFound)
	case !picked:
		return nil
	case s.json:
		_, err := s.out.Write(append(slices.Clone(s.r.Line()), '\n'))
		return err
	}
	return s.line(rec, &it)
}

// line writes a record with what is wrong about it, or became wrong with it.
func (s *shower) line(rec *trace.Record, it *view.Item) (err error) {
	if rec.Kind != trace.KindStart && rec.Kind != trace.KindStop { // the legend has told it
		err = s.item(it)
	}
	for i := range s.found {
		if err == nil {
			err = s.finding(&s.found[i])
		}
	}
	return err
}
