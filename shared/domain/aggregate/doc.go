// Package aggregate holds what all kinds of aggregates share. An aggregate, such as a task, is a set of rows under one
// head that changes by commits. This package knows no kind by name.
package aggregate
