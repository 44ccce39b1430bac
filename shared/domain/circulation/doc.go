// Package circulation says where a gate stands: Walk folds what people did along the gate's route, and Admit says
// whether somebody may do more. Cards, lists, claims and proofs use nothing else. It knows no task, reads no clock and
// imports only the standard library; infra/audit/verify.py has the same fold in Python, and a test holds both together
// and against an oracle that counts.
//
// The row of a gate has a route that never changes and acts that are only added: stamps, and one that sends it back or
// denies it, which ends it. A stage asks named people, members of a channel, or whom the settings allow when they act,
// for a number of stamps. A gate without a rule has one stage of the last kind, with one stamp, or none if it asks
// nobody; only under a rule are there more.
//
// What is only known outside (a delegation, Slack's word on a channel, what the settings say) the decision looks up and
// writes into the act as Found. Walk asks that it is there and fits, never whether it still holds. So a gate can be
// folded again at any time, by anybody. These hold of every walk:
//
//   - Nothing lowers what is owed but a stamp on the hash that is asked, at the present stage, by one whom that stage
//     asks or who stands in for them. Stages are asked in their order; one that is done stays so.
//
//   - Nobody stands in two stamps of a gate, be it as hand or as principal. A person is a Slack account.
//
//   - No asker stamps, nor does anybody for them, unless there is no rule and the settings let them (Allowed.Self).
//
//   - No walk gets stuck: an act is refused if afterwards too few people were left for the stamps that are owed, each
//     of whom gives one; a matching of people and stamps says so (missing). A gate that could be settled when it opened
//     can be until it ends. A channel's stage is taken to have somebody. Whose own stamp would be refused for that
//     isn't asked for it.
//
//   - Time never approves. Each stage has the hours of its gate from when it opened; under a rule all have 300 days
//     together at most.
//
//   - A gate ends once, settled or by the act that ended it, and nothing follows.
//
//   - Who stands in a stamp does nothing more.
//
//   - A gate fits within one row: all stages need 50 stamps together at most, texts have 1,000 characters.
//
//   - What Walk doesn't know settles nothing: a route or an act of another form, or one that could not be made, leaves
//     nothing standing.
//
// Admit gives a Refusal, of which people are told the stage, the names and the number of stamps missing.
package circulation
