// Package decide is the area between a click or an event and a commit, and from committed rows to their effects: what
// waits for whom, what may be begun, what a click decides, what follows from it.
//
// It imports everything below functions. Begin with decision for a click and effect for what follows.
package decide
