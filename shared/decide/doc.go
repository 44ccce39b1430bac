// Package decide is the area between a click or an event and a commit, and between committed rows and their effects.
// The package itself makes commits of people's decisions, whether they come from a card's button, a dialog in Slack or
// a form of the console: it checks who the person is and what they may do, decides on the current rows, and returns the
// outcome.
//
// It imports everything except functions. Begin with Maker for a click and effect for what follows.
package decide
