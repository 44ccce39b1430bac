// Package store is the area of the one DynamoDB table and the bucket of large results. This package stores aggregates,
// whose rows change by commits, and tenants' settings. It knows only the kinds of aggregates that it is given. Other
// rows of the table have their own packages: websession, seal, sums, exports, slackstate.
//
// It imports explain and the areas above explain in the README. Begin with Load and Commit, then tasks, conversations
// and contests.
package store
