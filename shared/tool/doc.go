// Package tool is the catalog of the tools that steps may call. It makes the tools from their files in
// shared/domain/catalog, and defines how arguments refer to earlier results. It calls no vendor: the packages below it
// are the vendors' clients and the runner that calls them.
//
// It imports slack and the areas under it. Begin with a file of shared/domain/catalog, then runner.
package tool
