package model

import (
	"ringi/shared/model/price"
	"ringi/shared/tenancy"
)

// Within opens a model for a task of the settings. It returns an *Error of kind
// Unpriced when a task's cost is limited and the model's price is not known:
// the limit would be none.
func Within(s tenancy.Settings, open func(name string) (Generator, error), name string) (Generator, error) {
	if s.MaxCost() > 0 && !price.Known(name) {
		return nil, &Error{Provider: "none", Model: name, Kind: Unpriced}
	}
	return open(name)
}
