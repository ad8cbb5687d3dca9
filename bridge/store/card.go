package store

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// CardFacts are what the answer to initialize needs of an agent's card. They are
// stored, so that an editor need not wait for the network at the next start. If the
// card has changed since, the editor learns it at the start after that, or by an error
// for a prompt that the agent no longer accepts.
type CardFacts struct {
	Name  string `json:"name"`
	Image bool   `json:"image"`
	Audio bool   `json:"audio"`
	// Secured: the card names security schemes, or requires them.
	Secured bool `json:"secured,omitempty"`
	// OAuth: one of them is a sign-in at an identity provider.
	OAuth bool `json:"oauth,omitempty"`
	// Down: the agent could not be reached the last time.
	Down bool `json:"down,omitempty"`
	// Abilities tells in a line what the agent can do and cannot.
	Abilities string `json:"abilities,omitempty"`
}

// FactsOf reads a card.
func FactsOf(card *a2a.Card) *CardFacts {
	return &CardFacts{Name: card.Name, Image: card.Takes("image/*"), Audio: card.Takes("audio/*"),
		Secured: len(card.Schemes)+len(card.Requirements) > 0,
		OAuth: slices.ContainsFunc(card.Schemes, func(s a2a.SecurityScheme) bool {
			return s.Type == "openIdConnect" || s.Type == "oauth2" && (s.MetadataURL != "" || slices.ContainsFunc(s.Flows, func(f a2a.OAuthFlow) bool {
				return f.Type == a2a.FlowAuthorizationCode || f.Type == a2a.FlowDeviceCode
			}))
		})}
}

// cardFile is where the facts about an agent are kept: beside the sessions.
func (s *Store) cardFile(agent string) string {
	return filepath.Join(s.dir, "cards", fileName(agent)+".json")
}

// CardFacts returns what is known of an agent from an earlier process, nil if
// nothing is.
func (s *Store) CardFacts(agent string) *CardFacts {
	if s == nil || agent == "" {
		return nil
	}
	raw, err := readRegular(s.cardFile(agent), maxRecord)
	facts := new(CardFacts)
	if err != nil || json.Unmarshal(raw, facts) != nil {
		return nil
	}
	return facts
}

// PutCardFacts stores them. If that fails, the next start asks the agent.
func (s *Store) PutCardFacts(agent string, facts *CardFacts) error {
	if s == nil || agent == "" {
		return nil
	}
	if known := s.CardFacts(agent); known != nil && *known == *facts {
		return nil
	}
	raw, _ := json.Marshal(facts) // texts always encode
	return safe.Replace(s.cardFile(agent), raw)
}

// conversationID names the conversation from a shell with an agent in a directory.
func conversationID(agent, cwd string) string { return agent + "\x00" + filepath.Clean(cwd) }

// Conversation returns the last conversation from a shell with an agent in a directory,
// or [ErrNoSession].
func (s *Store) Conversation(agent, cwd string) (Record, error) {
	if s == nil {
		return Record{}, ErrNoSession
	}
	return s.shell.Get(conversationID(agent, cwd))
}

// PutConversation stores a conversation from a shell, in place of the last with its agent
// in its directory. Its ID is set here.
func (s *Store) PutConversation(r Record) error {
	if s == nil {
		return nil
	}
	r.ID, r.Cwd = conversationID(r.Agent, r.Cwd), filepath.Clean(r.Cwd)
	return s.shell.Put(r)
}
