package model

import (
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/price"
)

// Within opens the model of that name; what it is sent is kept. It returns an *Error of kind Unpriced when the
// settings limit costs and the model's price is not known, because the limit could
// not be enforced.
func Within(s tenancy.Settings, open func(name string) (Wire, error), name string, keep Keep) (Wire, error) {
	if s.CostsLimited() && !price.Known(name) {
		return nil, &Error{Provider: "none", Model: name, Kind: Unpriced}
	}
	w, err := open(name)
	if err != nil {
		return nil, err
	}
	return Keeping(w, keep), nil
}
