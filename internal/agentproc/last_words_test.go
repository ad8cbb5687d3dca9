package agentproc

import (
	"strings"
	"testing"
)

// TestLastWords: the error has one short line of a dying program's output, with what a
// person needs.
func TestLastWords(t *testing.T) {
	for name, c := range map[string]struct{ printed, want string }{
		"nothing": {"", ""},
		"plain":   {"npm: no network\nbye\n", "npm: no network | bye"},
		"node": {`node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/srv/agent/missing.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at Module._load (node:internal/modules/cjs/loader:1051:27)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2
`, "Error: Cannot find module '/srv/agent/missing.js' | code: 'MODULE_NOT_FOUND', | requireStack: []"},
		"npm": {`npm error code E404
npm error 404 Not Found - GET https://registry.example/nothing - Not found
npm error 404
npm error 404  'nothing@*' is not in this registry.
npm error A complete log of this run can be found in: /home/u/.npm/_logs/x.log
`, "npm error code E404 | npm error 404 Not Found - GET https://registry.example/nothing - Not found | npm error 404"},
		"python": {`Traceback (most recent call last):
  File "/srv/agent.py", line 3, in <module>
    import a2a
ModuleNotFoundError: No module named 'a2a'
`, "ModuleNotFoundError: No module named 'a2a'"},
		"go": {"panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:5 +0x2c\nexit status 2\n",
			"panic: assignment to entry in nil map | main.main()"},
		"port":   {"\x1b[31mError: listen EADDRINUSE: address already in use :::41242\x1b[0m\r\n", "Error: listen EADDRINUSE: address already in use :::41242"},
		"chatty": {strings.Repeat("INFO ready\n", 100), "…INFO ready | INFO ready | INFO ready"},
	} {
		o := &output{}
		o.take([]byte(c.printed))
		if got := o.lastWords(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
	o := &output{}
	o.take([]byte("error: " + strings.Repeat("é", 5000)))
	if got := o.lastWords(); len(got) > maxWords+8 || !strings.HasSuffix(got, "é…") && !strings.HasPrefix(got, "…é") {
		t.Errorf("%q", got)
	}
}
