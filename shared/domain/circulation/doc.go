// Package circulation says where a gate stands: Walk folds what people did along the gate's route, and Admit says
// whether somebody may do more. Cards, lists, claims and proofs use nothing else. It knows no task, reads no clock and
// imports only the standard library; infra/audit/verify.py has the same fold in Python, and a test holds both
// together.
//
// The row of a gate has a route that never changes and acts that are only added:
//
//   - stamp; send back, give back and deny, which end it
//   - stand, by which an administrator puts somebody in the place of one who has not stamped
//
// Nothing lowers what is owed but a stamp by one who owes it or was put in their place. Only stand has people asked who
// aren't on the route, and takes somebody's place from them.
//
// A stage asks named people, members of a channel, or whom the settings allow when they act. A gate without a rule has
// one stage of the last kind, with one stamp, or none if it asks nobody; only under a rule are there more, and more
// acts than stamp, send back and give back. A stage of people may be cut into parts, each with stamps of its
// own.
//
// What is only known outside (a delegation, Slack's word on a channel, an administrator's row) the decision looks up
// and writes into the act as Found. Walk asks that it is there and fits, never whether it still holds. So a gate can be
// folded again at any time, by anybody.
//
//   - People are the same by account or by key of the organisation, also by way of others whom the gate names. Who
//     stands in one of a stage's stamps, as hand or principal, stands in no other of that stage. Over all stages so
//     many different hands must have pressed as the route says. Askers stamp neither as hand nor as principal, unless
//     there is no rule and the settings let them (Allowed.Self).
//
//   - No walk gets stuck. An act is refused if afterwards the people of the route could no longer give all stamps with
//     enough different hands; a matching of people and stamps says so (missing). A gate that could be settled when it
//     opened can be until it ends. A channel's stage is taken to have somebody. Whose own stamp would be refused for
//     that isn't asked for it.
//
//   - Of a policy or steps another version follows what
//     is sent back, or given back once whoever asked has corrected it. An action or a call ends when it is sent back.
//
//   - Each stage has the hours of its gate from when it opened; under a rule all have 300 days together at most. Time
//     never approves.
//
//   - Bounds keep a gate within one row: 120 acts, of stand 20, texts of 1,000 characters, 96 KiB. An act is refused if
//     what is owed and an end would no longer fit beside it.
//
//   - What Walk doesn't know settles nothing: a route or an act of another form, or one that could not be made, leaves
//     nothing standing.
//
// Admit gives a Refusal, of which people are told the stage, the names and the number of stamps missing.
package circulation
