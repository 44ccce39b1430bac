// Package contest holds the rules for contests between teams of agents: the rows of contests, teams and rounds, their
// state machines, and every decision about them. The records of a round (members' answers, the leader's submission, its
// score and the messages) have the names and the JSON that other tools read.
package contest
