package peers

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// documented is the NATS configuration in docs/push.md, with the users' keys and files,
// and with bob, a second user like alice.
func documented(t *testing.T, dir string, keys map[string]string) string {
	t.Helper()
	page := string(readFile(t, filepath.Join("..", "..", "docs", "push.md")))
	var block []string
	for line := range strings.Lines(page) {
		if line, ok := strings.CutPrefix(line, "    "); ok && (len(block) > 0 || strings.HasPrefix(line, "jetstream {")) {
			block = append(block, line)
		} else if len(block) > 0 {
			break
		}
	}
	config := strings.Join(block, "")
	alice := regexp.MustCompile(`(?s) *# alice\n.*?\} \}\n`).FindString(config)
	if alice == "" {
		t.Fatalf("docs/push.md has no alice: %s", config)
	}
	config = strings.Replace(config, alice, alice+strings.NewReplacer("alice", "bob", "ALICE", "BOB").Replace(alice), 1)
	for name, key := range keys {
		config = strings.ReplaceAll(config, "nkey: "+name, "nkey: "+key)
	}
	for was, is := range map[string]string{"/var/lib/nats": filepath.Join(dir, "store"), "/etc/nats": dir} {
		config = strings.ReplaceAll(config, was, is)
	}
	return "listen: 127.0.0.1:-1\n" + config
}

// certificate writes cert.pem and key.pem for this machine.
func certificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "nats"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "cert.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
	write(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
}

// The NATS configuration that is documented does what it says: the receiver and a bridge
// work with it, and a user gets nothing of another's, whatever he tries: neither by a
// subscription, nor by the stream, nor by the inbox that another fetches into; and nobody
// but the receiver puts anything into a mailbox.
func TestPushDocumentedNATS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate(t, dir)
	keys := map[string]string{}
	for name, file := range map[string]string{"RECEIVER": "receiver.nk", "ALICE": "alice.nk", "BOB": "bob.nk"} {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		seed, _ := pair.Seed()
		write(t, filepath.Join(dir, file), string(seed)+"\n")
		keys[name], _ = pair.PublicKey()
	}
	file := filepath.Join(dir, "nats.conf")
	write(t, file, documented(t, dir, keys))
	opts, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatalf("%v in\n%s", err, readFile(t, file))
	}
	opts.NoLog, opts.NoSigs = true, true
	s, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience) {
		t.Fatal("the NATS server does not start")
	}
	address := "tls://" + s.Addr().String()
	ca := filepath.Join(dir, "cert.pem")

	// Pushes finish a turn.
	m := mailbox{nats: address, master: filepath.Join(dir, "service.key"), key: filepath.Join(dir, "alice.key")}
	write(t, m.master, strings.Repeat("0123456789abcdef", 4))
	key, err := exec.Command(binary, "webhook", "key", "--key", m.master, "alice").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.key, key, 0o600); err != nil {
		t.Fatal(err)
	}
	hooks, _ := m.receive(t, "127.0.0.1:0", "--credentials", filepath.Join(dir, "receiver.nk"), "--ca", ca)
	bob := as(t, address, ca, filepath.Join(dir, "bob.nk"))
	heard, subscribed := eavesdrop(t, bob)
	agent := sdkServer(t, goV2)
	uncut := open(t, "--agent", agent)
	want := uncut.Prompt(uncut.NewSession(t.TempDir()), "count 20 100").story()
	uncut.Close()
	e := open(t, append(m.flags(hooks), "--agent", cutFor(t, agent), "--webhook-credentials", filepath.Join(dir, "alice.nk"), "--webhook-ca", ca)...)
	got := e.Prompt(e.NewSession(t.TempDir()), "count 20 100").story()
	e.Close()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("uncut\n\t%s\ncut\n\t%s", strings.Join(want, "\n\t"), strings.Join(got, "\n\t"))
	}
	if n := len(heard); n > 0 {
		t.Errorf("bob has heard %d messages: %s", n, (<-heard).Subject)
	}
	if subscribed != 1 {
		t.Errorf("bob has %d subscriptions, and one is his", subscribed)
	}
	// NATS does not answer bob's requests about alice's mailbox, nor take his pushes.
	js, err := bob.JetStream(nats.MaxWait(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := js.StreamInfo("A2APUSH-bob"); err != nil || info.Config.Name != "A2APUSH-bob" {
		t.Errorf("bob's own mailbox: %v", err)
	}
	for what, try := range map[string]func() error{
		"the stream": func() error { _, err := js.StreamInfo("A2APUSH-alice"); return err },
		"a message":  func() error { _, err := js.GetMsg("A2APUSH-alice", 1); return err },
		"a consumer": func() error {
			_, err := js.AddConsumer("A2APUSH-alice", &nats.ConsumerConfig{Durable: "b", AckPolicy: nats.AckExplicitPolicy})
			return err
		},
		"a purge": func() error { return js.PurgeStream("A2APUSH-alice") },
		"an end":  func() error { return js.DeleteStream("A2APUSH-alice") },
		"a push":  func() error { _, err := js.Publish("a2apush.alice.x", []byte("{}")); return err },
		"a new stream": func() error {
			_, err := js.AddStream(&nats.StreamConfig{Name: "copy", Sources: []*nats.StreamSource{{Name: "A2APUSH-alice"}}})
			return err
		},
	} {
		if try() == nil {
			t.Errorf("bob gets %s", what)
		}
	}
	// Nor with an unknown key.
	pair, _ := nkeys.CreateUser()
	seed, _ := pair.Seed()
	write(t, filepath.Join(dir, "nobody.nk"), string(seed))
	o, err := nats.NkeyOptionFromSeed(filepath.Join(dir, "nobody.nk"))
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := nats.Connect(address, nats.RootCAs(ca), o); err == nil {
		conn.Close()
		t.Error("anybody is let in")
	}
}

// as connects to NATS as a user.
func as(t *testing.T, address, ca, seed string) *nats.Conn {
	t.Helper()
	o, err := nats.NkeyOptionFromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(address, nats.RootCAs(ca), o, nats.CustomInboxPrefix("_INBOX.a2apush.bob"), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// eavesdrop subscribes to all subjects that may carry others' pushes. It returns what
// comes, and how many subscriptions the server has accepted.
func eavesdrop(t *testing.T, conn *nats.Conn) (heard chan *nats.Msg, taken int) {
	t.Helper()
	heard = make(chan *nats.Msg, 1000)
	for _, subject := range []string{">", "a2apush.>", "a2apush.alice.*", "_INBOX.>", "_INBOX.a2apush.>", "_INBOX.a2apush.alice.>", "_INBOX.a2apush-service.>", "$JS.>", "_INBOX.a2apush.bob.own"} {
		if _, err := conn.ChanSubscribe(subject, heard); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), patience)
		_ = conn.FlushWithContext(ctx)
		stop()
		if err := conn.LastError(); err == nil || !strings.Contains(err.Error(), `"`+subject+`"`) {
			taken++
		}
	}
	return heard, taken
}
