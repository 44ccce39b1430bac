// Package runtime is the area that every function needs: its start, configuration, the deployment's own secrets,
// metrics, panics, caches, calls to other hosts and functions, and the isolated environment where agents' code runs.
//
// It imports words and SDKs. Begin with boot.
package runtime
