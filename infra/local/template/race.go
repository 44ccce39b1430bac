//go:build race

package template

// detecting reports whether the race detector is compiled in, which takes several times the memory.
const detecting = true
