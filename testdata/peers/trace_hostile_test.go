package peers

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The page shows what an agent or an editor has said as text only: from the server and
// in a file, in each member of a record, in each view.
func TestTracePageHostile(t *testing.T) {
	t.Parallel()
	b := browse(t)
	evil := `</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1"><svg/onload=window.pwned=1>'"><a href="javascript:window.pwned=1">x</a>{{1}}${window.pwned=1}` + "\u202e\u2028<!--data--><!--scripts-->"
	e, _ := json.Marshal(evil)
	lines := []string{`{"n":1,"t":"2026-01-02T03:04:05.000000Z","us":0,"wire":"bridge","kind":"start","format":2,"run":"r","part":1,"limit":1048576,"mode":` + string(e) + `,"version":` + string(e) + `,"system":` + string(e) + `}`}
	add := func(members string) {
		lines = append(lines, fmt.Sprintf(`{"n":%d,"t":"2026-01-02T03:04:05.000000Z","us":%d,%s}`, len(lines)+1, len(lines), strings.ReplaceAll(members, "EVIL", string(e))))
	}
	add(`"wire":"editor","dir":"in","kind":"message","id":EVIL,"method":EVIL,"json":{"jsonrpc":"2.0","id":EVIL,"method":EVIL,"params":{"sessionId":EVIL,"prompt":[{"type":"text","text":EVIL}],EVIL:EVIL}}`)
	add(`"wire":"editor","dir":"in","kind":"message","id":5,"method":"session/prompt","json":{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"sessionId":EVIL,"prompt":[{"type":"text","text":EVIL}]}}`)
	add(`"wire":"agent","dir":"out","kind":"request","x":1,"id":1,"method":EVIL,"http":EVIL,"url":"javascript:window.pwned=1","header":{EVIL:[EVIL]},"text":EVIL`)
	add(`"wire":"agent","dir":"in","kind":"response","x":1,"status":200,"proto":EVIL,"header":{"Content-Type":[EVIL],"Location":["javascript:window.pwned=1"]}`)
	add(`"wire":"agent","dir":"in","kind":"event","x":1,"e":1,"name":EVIL,"last_id":EVIL,"comment":EVIL,"json":{"result":{"statusUpdate":{"taskId":EVIL,"contextId":EVIL,"status":{"state":EVIL,"message":{"messageId":EVIL,"parts":[{"text":EVIL},{"data":{"tool_call_id":EVIL,"tool_name":EVIL,"status":EVIL}}]}}}}}`)
	add(`"wire":"editor","dir":"out","kind":"message","from":[[1,1]],"method":"session/update","json":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":EVIL,"update":{"sessionUpdate":"tool_call","toolCallId":EVIL,"title":EVIL,"kind":EVIL,"status":EVIL,"content":[{"type":"content","content":{"type":"text","text":EVIL}}]}}}`)
	add(`"wire":"agent","dir":"in","kind":"body","x":1,"size":5,"sha256":EVIL,"head":EVIL`)
	add(`"wire":"bridge","kind":"decision","what":EVIL,"why":EVIL,"session":EVIL,"task":EVIL,"call":EVIL,"option":EVIL,"outcome":EVIL,"by":EVIL`)
	add(`"wire":"editor","dir":"out","kind":"stderr","text":EVIL`)
	add(`"wire":EVIL,"dir":EVIL,"kind":EVIL,"error":EVIL`)
	add(`"wire":"agent","dir":"in","kind":"end","x":1,"reason":EVIL,"error":EVIL,"bytes":5,"took":5`)
	dir := t.TempDir()
	trace, file := filepath.Join(dir, `<img src=x onerror=alert(1)>.jsonl`), filepath.Join(dir, "t.html")
	write(t, trace, strings.Join(lines, "\n")+"\n")
	if out, err := exec.Command(binary, "trace", "export", "--html", "--out", file, trace).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	served := serveTrace(t, trace)
	for _, url := range []string{served, "file://" + file} {
		b.open(url, 1440, 900)
		rows := eval[int](b, `List.shown.length`)
		if rows != len(lines) {
			t.Errorf("%s: %d rows of %d records", url, rows, len(lines))
		}
		shown := false
		for i := range rows {
			b.js(fmt.Sprintf(`List.select(%d)`, i))
			tabs := eval[int](b, `document.querySelectorAll("#tabs button").length`)
			for k := range tabs {
				b.js(fmt.Sprintf(`const tab = document.querySelectorAll("#tabs button")[%d]; if (tab) tab.click()`, k))
				b.until(`document.getElementById("body").textContent !== ""`)
				shown = shown || eval[bool](b, `document.getElementById("body").textContent.includes("onerror=")`)
			}
		}
		b.js(`const q = document.getElementById("query"); q.value = "<img src=x"; q.dispatchEvent(new Event("input"))`)
		b.until(`document.querySelector("mark") !== null`)
		if !shown {
			t.Errorf("%s: the text is not shown at all", url)
		}
		if eval[bool](b, `window.pwned !== undefined || document.querySelector("img, svg[onload], a[href^='javascript']") !== null`) {
			t.Errorf("%s: what was said is markup", url)
		}
	}
	b.clean(served, "file://"+file)
}
