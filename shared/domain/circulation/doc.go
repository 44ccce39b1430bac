// Package circulation says where a gate stands: Walk folds what people did along the gate's route, and Admit says
// whether somebody may do more. Cards, lists, claims and proofs use nothing else. It knows no task, reads no clock and
// imports only the standard library; infra/audit/verify.py has the same fold in Python, and a test holds both
// together.
//
// The row of a gate has a route that never changes and acts that are only added:
//
//   - stamp and take back; send back, give back and deny, which end it
//   - stand, by which an administrator puts somebody in the place of one who has not stamped
//   - ask and answer: a question to the askers, which stops nobody
//   - add, by which somebody whose turn it is has another one asked after their stage
//   - dissent: an objection of who is only consulted
//
// Nothing lowers what is owed but a stamp, or what somebody who is consulted says, by one who owes it or was put in
// their place; and the take-back of a stage's last objection, after which nobody stands over it. Only stand, add and
// dissent have people asked who aren't on the route, and only stand takes somebody's place from them.
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
//   - What is added counts for nothing that the route asks: its stamps are owed beside, and are no hands. It is a stage
//     with the next free number, asked right after the one at which it was added, so that no stage's number changes.
//     The route of each later version carries it over: there it follows the stage of the same name, or comes at the
//     end. Only who asks for it then, or whose own approval or opinion a stage needs anyway, isn't asked beside it.
//
//   - Who is consulted consents or objects, and never ends the gate. As the stage says, an objection is only noted, or
//     one of those who stand over them is asked next, once, while an objection stands.
//
//   - A take-back opens its stage again and closes the one after it. Of a policy or steps another version follows what
//     is sent back, or given back once whoever asked has corrected it. An action or a call ends when it is sent back.
//
//   - Each stage has the hours of its gate from when it opened; under a rule all have 300 days together at most. The
//     first question, asked before its stage is due, stops that stage's clock while it waits, for 72 hours at most. Time
//     never approves.
//
//   - A stage with minutes is complete only with those of a meeting. They come with a stamp of its secretary's, or of
//     any of its people where it has none; of what the meeting didn't carry, with a denial.
//
//   - Bounds keep a gate within one row: 120 acts, of stand 20, of add and ask 10 each, texts of 1,000 characters,
//     minutes of 2,000, 96 KiB. An act is refused if what is owed, minutes, the answer of an open question and an end
//     would no longer fit beside it.
//
//   - What Walk doesn't know settles nothing: a route or an act of another form, or one that could not be made, leaves
//     nothing standing.
//
// Admit gives a Refusal, of which people are told the stage, the names and the number of stamps missing.
package circulation
