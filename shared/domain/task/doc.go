// Package task holds the rules for tasks: the stages from a request to its end, who may decide what, and which effects
// follow from the rows.
//
// Everything here is a pure function over loaded values. A decision takes an Aggregate (all rows of one task) and
// returns a Change: the rows to write, the rows it relied on, and its audit entries. The store commits a Change in one
// transaction; nothing else changes state.
//
// A version begins with what asks for it: the first policy in the commit that makes the task's row, the first steps in
// that of the policy's stamp. After a rejection the next version begins with the reasons, until max_versions; a version
// that followed none of the reasons doesn't count. Expiry is a decision like any other, which the sweeper makes; until
// it commits, a click counts.
//
// Before a call a step is claimed: execution running, own run, time left, tool allowed, and the stored steps with the
// hash that was stamped. The claim has an invocation and a lease, and it is where a call begins. The result commits on
// the claim alone, whatever the execution's status or run, so late truth is recorded. The claim of the next step is
// part of the result's commit; whatever refuses it, the result is committed alone.
//
// Only an expired lease means that a function died. A read is then called again. A write never is: the step is unknown
// (結果不明), and a person decides. An idempotency key counts up only after a definite failure. A retry is a further
// attempt at the same process; completed steps are carried over, and a write that an earlier attempt turns out to have
// done is not done again.
//
// A person sees a step's resolved arguments before the call (GATE) where a rule, the settings or the tool ask for it,
// and always for a write whose destination, message or value the approved policy doesn't name in whole words, or whose
// destination came from an earlier result that no constraint lists. What a rule had people settle is good for some
// days, for calls that have not begun; then the attempt asks again (AGAIN).
//
// A number of a decision is put after the last of its fiscal year by the commit that begins the attempt, so there is no
// gap and no counter; a retry keeps it. Numbers of requests likewise, by the commit that takes them on or refuses them.
//
// An edit of the request's message is drafted if nothing is drafted yet; later everybody sees it, and its requester may
// have it drafted anew. A deletion withdraws what no execution has begun.
package task
