package tool

import "ringi/shared/domain/tenancy"

// Call is one call of a tool, with arguments that are resolved and checked.
type Call struct {
	Tenant    string
	Tool      string
	Arguments Resolved
	// Key is the idempotency key: the same when a call whose outcome is unknown is repeated.
	Key string
	// Locale is the language of an error's sentence, ja or en.
	Locale string
	// Thread is where the request was made.
	Thread Thread
	// Bounds are the constraints of the tenant's permission. Those on arguments have been checked;
	// the tool checks those that need the vendor's data, such as departments.
	Bounds tenancy.Constraints
	// Pin is the tool as it was allowed, when it is an MCP server's.
	Pin *tenancy.Pin
}

// Thread is a thread in Slack.
type Thread struct{ Channel, TS string }
