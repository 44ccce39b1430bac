// Package store is the area of the one DynamoDB table and the bucket of large results. This package stores aggregates,
// whose rows change by commits, and tenants' settings. It knows only the kinds of aggregates that it is given. Other
// rows of the table are in packages below: records, seal.
//
// It imports explain and the areas above explain in the README. Begin with Load and Commit, then tasks, conversations
// and contests.
//
// Load is one consistent Query of a partition; no index is used to decide. Commit writes a Change in one transaction,
// one action for each row: the head by an expression and never by a put, so that what bookkeeping wrote beside it
// stays; each other row on its revision as read; a condition check for each row that was only relied on and that the
// head doesn't prove. The settings' revision is a condition where a gate opens under them, a tool's where a claim
// relied on it, and counters of quotas move in the same transaction.
//
// A lost answer is recognised by the id of the last change in the head. A commit that was cut off and that can't be
// seen is unconfirmed: it may still be written, so nobody is told that it failed. After a conflict Decide loads and
// decides again, with growing pauses, until the caller's deadline. Some decisions in a row that find the rows of one
// head inconsistent are an error, fewer are a torn read. The tests have a store that tears every read.
//
// A row over DynamoDB's 400 KB is refused before it is sent. Larger values lie in the bucket under the SHA-256 of their
// bytes, put before the row that names them, so that a crash leaves at most an object without a row. The prefix says
// how long they live: results, files and prompts by the tenant's days; arguments as long as the audit log; talks as
// long as the conversation. A payload that is stamped is copied to arguments before the commit (Change.Copies); a
// commit whose copies nobody made is refused.
//
// An audit entry is put on the condition that it is absent, in the transaction of the change that it records. IAM
// allows no function to update or delete one.
//
// Cards, waits and leases carry no state. They are put over what was read, without the head, so that a drawing never
// makes a person's decision conflict.
package store
