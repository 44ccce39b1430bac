// Package conversation holds the rules for conversations with agents: messages, the actions that agents propose, the
// files they work on, and the results. Every decision is a pure function that takes loaded rows and returns a Change.
//
// Nothing is executed without approval: only an approved action can execute, and it is approved by a person's stamp or
// an administrator's rule. People approve exactly the payload that ReadPayload accepted, and exactly that is executed.
// A version of the files is one archive whose bytes depend only on the files. An archive that returns from the place
// where commands run is treated as untrusted input.
package conversation
