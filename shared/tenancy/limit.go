package tenancy

import (
	"fmt"

	"ringi/shared/aggregate"
)

// Limit bounds a number of tasks, for each person and for a whole tenant; 0: without a limit.
type Limit struct {
	Person int `json:"person"`
	Tenant int `json:"tenant"`
}

// maxLimit is the highest that a limit may be set to.
const maxLimit = 100_000

func (l Limit) check(field string) error {
	for _, x := range []struct {
		name string
		n    int
	}{{"person", l.Person}, {"tenant", l.Tenant}} {
		if x.n < 0 || x.n > maxLimit {
			return aggregate.ErrField{Field: field + "." + x.name, Limit: fmt.Sprintf("must be between 0 and %d", maxLimit)}
		}
	}
	return nil
}
