package provider

import (
	"cmp"

	"ringi/shared/domain/modelname"
	"ringi/shared/model"
	"ringi/shared/model/price"
)

// Wires opens the models of contests by their names, as their files have them.
type Wires struct {
	Config
	Instead string     // the model that stands for every other; empty: none does
	Demo    model.Wire // the demo's
	// Unlimited says that nothing bounds what a contest costs. Else a model whose price nobody knows is not opened,
	// because the contest's budget could not be held.
	Unlimited bool
}

// Open makes the wire of a model; nothing is called yet. Its errors are *model.Error: of kind UnknownModel for a name
// of no known form, Unpriced for what can't be limited.
func (w Wires) Open(name string) (model.Wire, error) {
	name = cmp.Or(w.Instead, name)
	switch n, err := modelname.Parse(name); {
	case err == nil && n.Provider == modelname.Demo:
		return w.Demo, nil
	case err == nil && !w.Unlimited && !price.Known(n.String()):
		return nil, &model.Error{Provider: n.Provider, Model: n.Model, Kind: model.Unpriced}
	}
	return w.Config.Open(name)
}
