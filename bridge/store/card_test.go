package store

import (
	"os"
	"testing"
)

// TestCardFacts: what initialize needs of a card is kept from process to
// process; a damaged file is as good as none.
func TestCardFacts(t *testing.T) {
	s := openStore(t)
	const agent = "http://agent.example/../x"
	want := CardFacts{Name: "é", Image: true}
	if err := s.PutCardFacts(agent, &want); err != nil {
		t.Fatal(err)
	}
	if got := again(t, s).CardFacts(agent); got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if err := os.WriteFile(s.cardFile(agent), []byte("{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	var none *Store
	if s.CardFacts(agent) != nil || s.CardFacts("http://other.example/") != nil || none.CardFacts(agent) != nil || none.PutCardFacts(agent, &want) != nil {
		t.Error("there are facts of a damaged file, of another agent, or of no store")
	}
}
