package tenancy

// Limit bounds a number of tasks, for each person and for a whole tenant; 0: without a limit.
type Limit struct {
	Person int `json:"person"`
	Tenant int `json:"tenant"`
}

// maxLimit is the highest that a limit may be set to.
const maxLimit = 100_000
