package model

import (
	"ringi/shared/model/price"
	"ringi/shared/tenancy"
)

// Within opens the model of that name. It returns an *Error of kind Unpriced when the
// settings limit a task's cost and the model's price is not known, because the limit could
// not be enforced.
func Within(s tenancy.Settings, open func(name string) (Generator, error), name string) (Generator, error) {
	if s.MaxCost() > 0 && !price.Known(name) {
		return nil, &Error{Provider: "none", Model: name, Kind: Unpriced}
	}
	return open(name)
}
