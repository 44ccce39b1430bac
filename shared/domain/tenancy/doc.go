// Package tenancy is what a tenant owns beside its aggregates: its settings, who administers it, its connections to
// vendors, and which tools may be called.
package tenancy
