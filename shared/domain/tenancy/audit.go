package tenancy

import "ringi/shared/domain/aggregate"

// Audit actions for changes to a tenant's settings, permissions, integrations and organisation.
const (
	AuditSettingsUpdated         aggregate.Action = "settings.updated"
	AuditRulesUpdated            aggregate.Action = "rules.updated"
	AuditIntegrationConnected    aggregate.Action = "integration.connected"
	AuditIntegrationDisconnected aggregate.Action = "integration.disconnected"
	AuditIntegrationFailed       aggregate.Action = "integration.failed"
	AuditDelegationSet           aggregate.Action = "delegation.set"
	AuditDelegationEnded         aggregate.Action = "delegation.ended"
	AuditToolPermissionUpdated   aggregate.Action = "tool_permission.updated"
	AuditOrganisationSaved       aggregate.Action = "organisation.saved"
	AuditOrganisationRemoved     aggregate.Action = "organisation.removed"
)
