// Package task holds the rules for tasks: the stages from a request to its end, who may decide what, and which effects
// follow from the rows.
//
// Everything here is a pure function over loaded values. A decision takes an Aggregate (all rows of one task) and
// returns a Change: the rows to write, the rows it relied on, and its audit entries. The store commits a Change in one
// transaction; nothing else changes state.
package task
