// Package contest is a contest of teams of agents as data: its rows, the teams' rows, their state machines, and every
// decision about them. It imports no SDK and reads no clock.
package contest
