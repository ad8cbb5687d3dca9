package bridge

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// cardFacts are what the answer to initialize needs of an agent's card. They are
// kept from process to process, so that an editor need not wait for the network
// to learn what it learnt the last time; what has changed since shows at the next
// start, or, for a prompt that the agent does not take any more, as an error.
type cardFacts struct {
	Name  string `json:"name"`
	Image bool   `json:"image"`
	Audio bool   `json:"audio"`
}

func factsOf(card *a2a.Card) *cardFacts {
	return &cardFacts{Name: card.Name, Image: card.Accepts("image"), Audio: card.Accepts("audio")}
}

// cardFile is where the facts about an agent are kept: beside the sessions.
func (s *Store) cardFile(agent string) string {
	return filepath.Join(s.dir, "cards", fileName(agent)+".json")
}

// facts returns what is known of an agent from an earlier process, nil if
// nothing is.
func (s *Store) facts(agent string) *cardFacts {
	if s == nil || agent == "" || s.guard() != nil {
		return nil
	}
	raw, err := os.ReadFile(s.cardFile(agent))
	facts := new(cardFacts)
	if err != nil || len(raw) > maxRecord || json.Unmarshal(raw, facts) != nil {
		return nil
	}
	return facts
}

// putFacts keeps them. What goes wrong costs the next start some time, and
// nothing else.
func (s *Store) putFacts(agent string, facts *cardFacts) error {
	if s == nil || agent == "" {
		return nil
	}
	if known := s.facts(agent); known != nil && *known == *facts {
		return nil
	}
	raw, err := json.Marshal(facts)
	if err != nil {
		return err
	}
	file := s.cardFile(agent)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), "*"+tempSuffix)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is of no use to anybody
	}
	return err
}
