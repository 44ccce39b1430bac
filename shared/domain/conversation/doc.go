// Package conversation is the domain of conversations with agents: what people and an agent say, the actions that an
// agent proposes, the files they work on, and what becomes of them. Every decision is a pure function of the rows as
// they were loaded and makes a Change.
//
// Nothing is executed that nobody approved: an action reaches executing from approved alone, and approved by a person's
// stamp or by an administrator's rule. What ReadPayload lets through is what people approve, and what is run. A version
// of the files is one archive, whose bytes follow from the files alone; what comes back from where commands run is read
// as what a stranger sent.
package conversation
