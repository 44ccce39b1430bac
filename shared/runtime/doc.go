// Package runtime is the area that every function stands on: its start, settings of the environment, the deployment's
// own secrets, metrics, panics, answers that are remembered for a while, calls to other hosts, and the isolated place
// where agents' code runs.
//
// It imports words and SDKs. Begin with boot and config.
package runtime
