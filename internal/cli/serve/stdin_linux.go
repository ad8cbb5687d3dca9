package serve

import (
	"io"
	"os"
	"syscall"
)

// A polledReader reads a file that may block, when there is something to read: until
// then only the goroutine waits. A read that blocks in the kernel keeps its processor
// until the runtime's monitor takes it away, and serve has one (see tune): so an answer
// to what was read came 0.2 ms later.
//
// The file does not become non-blocking: that would be so for each process that shares
// it, and for stdout where it is the same socket. An epoll instance tells when it can be
// read, and the runtime waits for that one.
type polledReader struct {
	file  *os.File
	poll  *os.File
	conn  syscall.RawConn // of poll
	ready func(fd uintptr) bool
}

// polled returns a reader of r that waits in the runtime; r itself where that cannot be
// (what never blocks, like a regular file, cannot be waited for).
func polled(r io.Reader) io.Reader {
	file, ok := r.(*os.File)
	if !ok {
		return r
	}
	in, err := file.SyscallConn()
	if err != nil {
		return r
	}
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return r
	}
	added := err
	err = in.Control(func(of uintptr) {
		added = syscall.EpollCtl(fd, syscall.EPOLL_CTL_ADD, int(of), &syscall.EpollEvent{Events: syscall.EPOLLIN})
	})
	if err != nil || added != nil || syscall.SetNonblock(fd, true) != nil {
		_ = syscall.Close(fd)
		return r
	}
	p := &polledReader{file: file, poll: os.NewFile(uintptr(fd), "epoll")}
	if p.conn, err = p.poll.SyscallConn(); err != nil {
		_ = p.poll.Close()
		return r
	}
	var events [1]syscall.EpollEvent
	p.ready = func(fd uintptr) bool {
		n, err := syscall.EpollWait(int(fd), events[:], 0)
		return n != 0 && err != syscall.EINTR // after another error the read waits
	}
	return p
}

func (p *polledReader) Read(b []byte) (int, error) {
	_ = p.conn.Read(p.ready) // after an error the read waits
	return p.file.Read(b)
}
