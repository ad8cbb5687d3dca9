package mapping

import (
	"encoding/binary"
	"hash/maphash"
)

// This file tells what has changed in a tool call, by hashes of its last state.

func (k *calls) headSum(c *ToolCall) uint64 {
	s := newSum(k.seed)
	s.text(c.Name)
	s.text(c.Description)
	s.text(c.DisplayName)
	s.text(c.Kind)
	s.text(string(c.Input))
	return s.Sum64()
}

func (k *calls) contentSum(c *ToolCall) uint64 {
	s := newSum(k.seed)
	switch {
	case c.knownSoFar.json != "":
		s.number(c.knownSoFar.sum)
	case c.OutputSoFar != "":
		s.number(maphash.String(k.seed, c.OutputSoFar))
	}
	s.text(string(c.Extra))
	if o := c.Output; o != nil {
		s.text("output")
		s.text(o.Text)
		s.text(string(o.Data))
		s.diff(o.Diff)
	}
	if e := c.Error; e != nil {
		s.text("error")
		s.text(e.Message)
		s.text(e.Type)
		s.number(uint64(e.StatusCode))
	}
	if q := c.Confirmation; q != nil {
		s.text("confirmation")
		s.diff(q.Edit)
		if q.Execute != nil {
			s.text(q.Execute.Command)
			s.text(q.Execute.WorkingDirectory)
		}
		if q.MCP != nil {
			s.text(q.MCP.ServerName)
			s.text(q.MCP.ToolName)
		}
		if q.Generic != nil {
			s.text(q.Generic.Description)
		}
		s.text(string(q.Unread))
		for i := range q.Options {
			s.text(q.Options[i].ID)
			s.text(q.Options[i].Name)
			s.text(q.Options[i].Description)
		}
	}
	return s.Sum64()
}

// rawSum is the hash of what an event says of a call, as [call.raw].
func (c *calls) rawSum(now *ToolCall) uint64 {
	return c.rawSumOf(now.Status, c.headSum(now), c.contentSum(now))
}

func (c *calls) rawSumOf(status ToolStatus, head, content uint64) uint64 {
	s := newSum(c.seed)
	s.number(uint64(status))
	s.number(head)
	s.number(content)
	return s.Sum64()
}

// A sum hashes values with their lengths, so that two lists of values do not hash
// alike.
type sum struct{ maphash.Hash }

func newSum(seed maphash.Seed) (s sum) {
	s.SetSeed(seed)
	return s
}

func (s *sum) text(v string) {
	s.number(uint64(len(v)))
	s.WriteString(v)
}

func (s *sum) number(n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	s.Write(b[:])
}

func (s *sum) diff(d *FileDiff) {
	if d == nil {
		return
	}
	s.text(d.FilePath)
	s.text(d.NewContent)
	s.text(d.Formatted)
	if d.OldContent != nil {
		s.text(*d.OldContent)
	}
}
