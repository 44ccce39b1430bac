//go:build race

package peak

// detecting reports whether the race detector is compiled in, which takes several times the memory.
const detecting = true
