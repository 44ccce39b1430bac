// Package store is the area of the one DynamoDB table and the bucket of large results. This package keeps aggregates,
// whose rows change by commits, and what a tenant owns beside them; it knows no kind but those that it is given.
//
// It imports explain and what stands below. Begin with Load and Commit, then tasks, conversations and contests.
package store
