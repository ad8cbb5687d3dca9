package memnet

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func get(n *Network, path string) (string, error) {
	client := &http.Client{Transport: n}
	r, err := client.Post("http://agent.invalid"+path, "text/plain", strings.NewReader("question"))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return string(b), err
}

// What a handler writes arrives at once, and what breaks is told from what ends.
func TestNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &Network{Refuse: func(r *http.Request) bool { return r.URL.Path == "/refused" }}
		n.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			said, _ := io.ReadAll(r.Body)
			switch r.URL.Path {
			case "/headless":
				panic(http.ErrAbortHandler)
			case "/broken":
				io.WriteString(w, "half")
				panic(http.ErrAbortHandler)
			case "/silent":
				io.WriteString(w, "a word")
				<-r.Context().Done()
				return
			}
			w.Write(said)
		})
		if got, err := get(n, "/whole"); got != "question" || err != nil {
			t.Errorf("a whole answer: %q, %v", got, err)
		}
		if got, err := get(n, "/broken"); got != "half" || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a broken answer: %q, %v", got, err)
		}
		if _, err := get(n, "/headless"); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("no answer: %v", err)
		}
		if _, err := get(n, "/refused"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("refused: %v", err)
		}
		time.AfterFunc(time.Minute, n.Sever)
		if got, err := get(n, "/silent"); got != "a word" || err == nil {
			t.Errorf("severed: %q, %v", got, err)
		}
		if _, err := get(n, "/whole"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("behind that: %v", err)
		}
		n.Wait()
	})
}
