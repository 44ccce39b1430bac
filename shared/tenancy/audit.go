package tenancy

import "ringi/shared/aggregate"

// What changes of what a tenant owns are called in the audit log.
const (
	SettingsUpdated         aggregate.Action = "settings.updated"
	IntegrationConnected    aggregate.Action = "integration.connected"
	IntegrationDisconnected aggregate.Action = "integration.disconnected"
	IntegrationFailed       aggregate.Action = "integration.failed"
	ToolPermissionUpdated   aggregate.Action = "tool_permission.updated"
)
