// Package aggregate is what all kinds of aggregates have in common: a task, and whatever else lives as rows under
// one head that changes by commits. It knows none of them.
package aggregate
