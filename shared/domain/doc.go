// Package domain is the area of the rules: tasks, conversations, contests and tenants, who may decide, and what follows
// from a decision; catalog has a file for each tool. Everything in it is a pure function over loaded values.
//
// It imports words, the standard library and ulid, but no SDK. Begin with aggregate, then task.
package domain
