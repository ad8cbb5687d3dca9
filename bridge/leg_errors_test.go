package bridge

import (
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Between turns, and where a session is loaded, a task is not asked for again where the answer would be the same.
func TestLastingErrors(t *testing.T) {
	for status, want := range map[int]bool{400: true, 401: true, 403: true, 410: true, 422: true,
		404: false, 405: false, 408: false, 429: false, 500: false, 501: false, 502: false, 503: false, 504: false} {
		must.Equal(t, isLasting(&a2a.Error{HTTPStatus: status}), want, status)
	}
	for code, want := range map[int]bool{a2a.CodeTaskNotFound: true, a2a.CodeMethodNotFound: true, a2a.CodeInternal: false} {
		must.Equal(t, isLasting(&a2a.Error{HTTPStatus: 400, Code: code}), want, code)
	}
	must.Equal(t, isLasting(transport.ErrTooLarge), true)
	must.Equal(t, isLasting(transport.ErrUnreachable), false)
}
