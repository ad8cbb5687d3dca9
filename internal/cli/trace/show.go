package trace

import (
	"bufio"
	"errors"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/check"
	"github.com/a2astdio/a2astdio/internal/trace/show"
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
	s := &shower{p: p, c: c, r: r, json: c.String("output") == frame.JSON, out: bufio.NewWriter(p.Stdout)}
	s.check = check.New(&check.Options{Report: func(f *check.Finding) { s.found = append(s.found, *f) }})
	err = s.run()
	if flushErr := s.out.Flush(); err == nil {
		err = flushErr
	}
	noteTrace(p, r)
	return err
}

type shower struct {
	p       *frame.Program
	c       *cli.Context
	r       *trace.Reader
	json    bool
	out     *bufio.Writer
	print   *show.Printer
	filter  *view.Filter
	check   *check.Checker
	found   []check.Finding // with the last record
	started bool
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
		case err == io.EOF:
			return s.end()
		}
		if err != nil {
			return err
		}
	}
}

// begin takes the first record, which tells the kind of trace.
func (s *shower) begin(rec *trace.Record) (err error) {
	s.started = true
	width, color := terminalOf(s.p)
	s.print = show.New(s.out, &show.Options{Width: width, Color: color, Plain: safe.Plain,
		Alone: rec.Mode == "client" || rec.Mode == "proxy", Tap: rec.Mode == "tap"})
	s.filter = &view.Filter{Method: s.c.String("method"), Session: s.c.String("session"), Bad: s.c.Bool("failed")}
	if s.json || s.c.IsSet("record") {
		return nil
	}
	return s.print.Legend(rec)
}

func (s *shower) record(rec *trace.Record) error {
	if !s.started {
		if err := s.begin(rec); err != nil {
			return err
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
	case s.c.IsSet("record"):
		if rec.N != int64(s.c.Int("record")) {
			return nil
		}
		err := s.print.Record(rec, &it)
		for i := range s.found {
			err = errors.Join(err, s.print.Finding(&s.found[i]))
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
		err = s.print.Item(it)
	}
	for i := range s.found {
		if err == nil {
			err = s.print.Finding(&s.found[i])
		}
	}
	return err
}

func (s *shower) end() error {
	if s.c.IsSet("record") {
		return errors.New("trace: there is no record " + s.c.String("record"))
	}
	return nil
}
