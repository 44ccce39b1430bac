// Package aggregate holds what all kinds of aggregates share. An aggregate, such as a task, is a set of rows in one
// partition under one head. This package knows no kind by name, and imports the standard library, ulid and circulation.
//
// A decision is a pure function from loaded rows to a Change or an error. It may be called again after each conflict,
// so it asks nobody and reads no clock: actor, policy and time are its arguments. Times within an aggregate only grow
// (Head.Moment), whatever the clocks of the functions say.
//
// A Query is no snapshot: the rows of one aggregate may be of two commits. So a Change names the rows that the decision
// relied on, absent ones too, and the commit checks that each is still as it was read. A check costs as much as a
// write. The head saves most of them: it notes the newest revision of each type of row (Newest), in the same row whose
// revision every commit checks anyway. What the head can't prove is checked by itself (Newest.Unproven): older
// versions, and types that it doesn't note.
//
// The head knows which gates are under a rule. The Change that opens such a gate notes the hash of its route there
// (Head.Opens), and the Change that settles it the hash of its acts (Head.Settle). A gate whose row differs from that
// note, or has lost its rule, is stamped, sent back and approved by nobody (Head.AsOpened, Head.OnRoute). A claim asks
// once more (Head.Stands), with the hash of what is about to be done.
//
// What is frozen with a gate when it opens is in Terms: executor, timeouts, locale and the revision of the settings.
// Approvers are not: the settings are asked at the click, so a change of them applies at once to what waits. What was
// settled is never released or taken back by a setting.
//
// Effects and Next say what follows from rows, DueAt when the sweeper looks again, Overdue which decisions time makes.
// Rows that hold no state (cards, waits, leases) are written without a commit, each on conditions of its own.
//
// A status moves in one place for each kind of row, by a table of Moves. A move that isn't listed is an error.
package aggregate
