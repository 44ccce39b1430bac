package pipeline

import (
	"ringi/shared/domain/tenancy"
)

// ModelName is the model to use: the deployment's, when it names one, else the tenant's.
func ModelName(override string, s tenancy.Settings) string {
	if override != "" {
		return override
	}
	return s.Model
}
