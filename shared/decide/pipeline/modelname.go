package pipeline

import (
	"ringi/shared/domain/tenancy"
)

// ModelName returns the deployment's model if it sets one, else the tenant's.
func ModelName(override string, s tenancy.Settings) string {
	if override != "" {
		return override
	}
	return s.Model
}
