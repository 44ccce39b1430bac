// Package decide is the area between a click or an event and a commit, and from committed rows to their effects: what
// waits for whom, what may be begun, what a click decides, what follows from it. The package itself makes a commit of
// what a person wants, wherever they say so: it asks who they are and whether they may, decides on the rows as they are
// now, and says what became of it. A card's buttons, Slack's dialogs and the console's forms all decide here.
//
// It imports everything below functions. Begin with Maker for a click and effect for what follows.
package decide
