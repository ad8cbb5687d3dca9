package config

// A Named is an agent that the user's file defines.
type Named struct {
	Name string
	Line int
	// Default: it is used when no agent is named.
	Default bool

	config *Config
}

// List returns all agents of the user's file, in their order, with the values of
// each.
func List(opts *Options) (*Config, []Named, error) {
	c, _, err := load(opts, everyAgent)
	if err != nil {
		return nil, nil, err
	}
	var list []Named
	for i := range c.agents {
		name := string(c.agents[i].name)
		one := *c
		one.Agent, one.Named = name, true
		list = append(list, Named{Name: name, Line: c.agents[i].line, Default: c.Named && name == c.Agent, config: &one})
	}
	return c, list, nil
}

// Value is [Config.Value] if this agent is used.
func (n *Named) Value(key string) *Value { return n.config.Value(key) }
