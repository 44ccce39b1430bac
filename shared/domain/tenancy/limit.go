package tenancy

// Limit is a maximum number of tasks, for each person and for the tenant; 0 means no limit.
type Limit struct {
	Person int `json:"person"`
	Tenant int `json:"tenant"`
}

// Nearly is the number of the tenant's tasks from which administrators are warned: 80 % of the limit. 0 means never.
func (l Limit) Nearly() int { return (4*l.Tenant + 4) / 5 }

// maxLimit is the highest configurable limit.
const maxLimit = 100_000
