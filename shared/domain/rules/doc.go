// Package rules says who is asked about a request: Match finds the tenant's rule for it, and Resolve turns that rule's
// policy into a circulation.Route of named people. Amounts are read from a call's arguments where an administrator
// marked them. Problems and Findings check rules when they are saved. Everything is a pure function; what Slack and the
// organisation say comes in through Facts and Directory.
//
// No condition reads words that people or models write, since words are what whoever asks can choose. Conditions are on
// who asks, the place, departments and groups, tools by address and name, destinations and amounts. The first rule
// counts whose conditions all hold. Where none does, the last rule answers: one person of the channel for what only
// reads, and a refusal for what writes, until an administrator chooses otherwise. A rule that hangs on something
// unknown refuses, because a later one might ask less.
//
// What isn't surely a number is at least every amount and below none: a text in other digits, a reference, an empty
// list, two currencies, a member that is there twice. Destinations are known only at marked arguments, of one version
// of the tool; else a write goes outside. So a server can't say that it writes nowhere, nor a renamed argument lower an
// amount.
//
// A stage that finds too few people who may stamp is empty, by cause: vacant, own (the requester is one of them) or
// twice (all have to stamp earlier). The rule says for each whether who stands above is asked, the stage is left out,
// or the request is refused. A post that the organisation has on no day is unknown, not vacant: it may have another
// name by now, so nothing is left out for it. If only other askers are missing, nothing is left out either: whoever
// asks in a thread takes nobody's objection away. An asker without a row in the organisation may be anybody's second
// account; everything is refused.
//
// The floor is the least that a write outside asks, whatever the rules say, and from an amount on two different people.
// A rule below it isn't saved, a route below it not opened. Ways gives the weakest way to each tool before rules are
// saved: it may name one that several rules together close, and misses none.
//
// Where nobody but the askers is in a place, a channel's stage asks the tenant's Home instead. A route has two
// different hands from two stages on, unless it says otherwise, and they don't fall when stages are left out.
package rules
