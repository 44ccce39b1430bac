// Package task is Ringi's domain: what a request becomes on its way to done, who
// may decide what, and what follows from the rows as they are now.
//
// Everything here is a pure function over loaded values. A decision takes an
// Aggregate (all rows of one task), and returns a Change: the rows to write, the
// rows it relied on, and the audit entries that belong to it. The store commits
// a Change in one transaction; nothing else changes state.
package task
