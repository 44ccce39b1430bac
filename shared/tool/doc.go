// Package tool is the area of what acts: the vendors' clients, and the runner that calls them. This package, which calls
// nobody, is the catalog of the tools that steps may call: it makes them of their files, which stand in
// shared/domain/catalog, and says how arguments refer to earlier results.
//
// It imports slack and what stands below. Begin with a file of shared/domain/catalog, then runner.
package tool
