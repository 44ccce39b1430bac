package main

import (
	"cmp"

	"ringi/shared/agent"
	"ringi/shared/chat"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/modelname"
	"ringi/shared/round"
)

// models opens what teams name, or the deployment's model in place of all.
type models struct {
	provider.Config
	instead string
}

// Open makes the wire of a model whose price is known: a team's part of the budget is held by what its calls cost.
func (m models) Open(name string) (chat.Wire, error) {
	name = cmp.Or(m.instead, name)
	n, err := modelname.Parse(name)
	switch {
	case err != nil:
		return nil, &model.Error{Provider: "none", Model: name, Kind: model.UnknownModel, Err: err}
	case n.Provider == modelname.Demo:
		return round.Demo{}, nil
	}
	return m.OpenAgent(agent.Definition{ID: n.Model, Provider: agent.Provider(n.Provider), Model: n.Model}, "", true)
}
