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
	if s.CardFacts(agent) != nil {
		t.Error("facts of an agent that was never met")
	}
	want := CardFacts{Name: "é", Image: true}
	if err := s.PutCardFacts(agent, &want); err != nil {
		t.Fatal(err)
	}
	later, err := Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := later.CardFacts(agent); got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if later.CardFacts("http://other.example/") != nil {
		t.Error("another agent has the same facts")
	}
	if err := os.WriteFile(s.cardFile(agent), []byte("{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.CardFacts(agent) != nil {
		t.Error("a damaged file has facts")
	}
	var none *Store
	if none.CardFacts(agent) != nil || none.PutCardFacts(agent, &want) != nil {
		t.Error("no store is no place for a card")
	}
}
