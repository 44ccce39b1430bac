// Package explain is the area of sentences that say why something did not happen and what to do: classes of errors,
// reasons of ends, failed calls, refusals, the words of the audit log, and one-line descriptions of calls.
//
// It imports domain and the areas above domain in the README. Begin with ClassOf and Ended.
package explain
