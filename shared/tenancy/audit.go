package tenancy

import "ringi/shared/aggregate"

// The audit log's names of changes to a tenant's settings, permissions and integrations.
const (
	SettingsUpdated         aggregate.Action = "settings.updated"
	IntegrationConnected    aggregate.Action = "integration.connected"
	IntegrationDisconnected aggregate.Action = "integration.disconnected"
	IntegrationFailed       aggregate.Action = "integration.failed"
	ToolPermissionUpdated   aggregate.Action = "tool_permission.updated"
)
