// Package store is the area of the one DynamoDB table and the bucket of large results. This package keeps aggregates,
// whose rows change by commits, and a tenant's settings; it knows no kind but those that it is given. What else stands
// in the table has a package of its own above table: websession, seal, sums, exports, slackstate.
//
// It imports explain and what stands below. Begin with Load and Commit, then tasks, conversations and contests.
package store
