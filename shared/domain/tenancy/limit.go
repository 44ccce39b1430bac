package tenancy

// Limit is a maximum number of tasks, for each person and for the tenant; 0 means no limit.
type Limit struct {
	Person int `json:"person"`
	Tenant int `json:"tenant"`
}

// maxLimit is the highest configurable limit.
const maxLimit = 100_000
