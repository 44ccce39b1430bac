// Package explain is the area of why something did not happen, in a sentence that says what to do: classes of errors,
// reasons of ends, failed calls, refusals, the audit log's words, and what a call does, in a line.
//
// It imports domain and what stands below. Begin with errorclass and ended.
package explain
