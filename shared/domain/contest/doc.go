// Package contest holds the rules for contests between teams of agents: the rows of contests, teams and rounds, their
// state machines, and every decision about them. The records of a round (members' answers, the leader's submission, its
// score and the messages) have the names and the JSON that other tools read.
//
// A contest is a kind, and each team's work in it another one, without a machine: teams commit to rows of their own and
// never wait for each other. A team that ended changes no more. Its best round stands in the row of the board
// (is_best), which moves with the round that is better.
//
// A contest's id follows from the row that orders it, so that an order makes one contest however often it is carried
// out. The day counts the whole budget when the contest begins, on condition that there is room, and gets back what was
// not spent when it ends, once. So contests that begin at the same time never share what is left for one.
//
// A contest whose runs die is begun anew by the sweeper; after five it is abandoned: no team calls a model any more,
// and the runs that follow only sum up, twenty at most. A contest that people end early, or whose task has ended, ends
// the same way within seconds, and what its teams have is summed up.
//
// Where its bounds come from:
//
//   - 20 teams of 10 rounds are a tenth of the 25,000 events that a run's history may have, and an inline Map runs 40
//     branches at once.
//
//   - Ten rounds, 16 KiB of each text in the row, are one page of a Query (1 MB). A configuration and all teams'
//     results over 64 KiB are in the bucket, since a row has 400 KB.
//
//   - 16 answers of a leader and 100 calls of members in a round, and 8 answers to a call, keep a model that calls in
//     circles from spending the team's budget in one round.
//
//   - A round is written in four tries over seven seconds, as the specification says; then the team ends
//     (DatabaseWriteError).
//
//   - A model's answer is kept for seven days, as long as somebody may want to begin a contest's run anew.
package contest
