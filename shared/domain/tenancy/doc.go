// Package tenancy holds what a tenant owns apart from its aggregates: its settings, its administrators, its connections
// to vendors, and the permissions of tools.
package tenancy
