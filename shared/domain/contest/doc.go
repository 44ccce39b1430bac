// Package contest is a contest of teams of agents as data: its rows, the teams' rows, their state machines, every
// decision about them, and what a team leaves behind: what its members answered, what its leader submitted, what it was
// scored, and what was said meanwhile. Names and JSON of the latter are those that the tools reading them know. The
// package imports no SDK and reads no clock.
package contest
