// Package tool is the area of what acts: the catalog of the tools that steps may call (this package, which calls
// nobody), the vendors' clients, and the runner that calls them. The catalog says what a tool takes and gives, whether
// calling it twice matters, and how arguments refer to earlier results.
//
// It imports slack and what stands below. Begin with catalog and runner.
package tool
