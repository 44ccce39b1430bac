// Package decide is the area between a click or an event and a commit, and between committed rows and their effects.
// The package itself makes commits of people's decisions, whether they come from a card's button, a dialog in Slack or
// a form of the console: it checks who the person is and what they may do, decides on the current rows, and returns the
// outcome.
//
// It imports everything except functions. Begin with Maker for a click and effect for what follows.
//
// A click's ids are hints. Maker loads the subject that they name and asks whether it has such a gate, at the stage and
// with the hash that the person saw; what has moved since is refused with its reason, never stamped. Who the person is
// Slack says at each click, not the click: guests, strangers and people who left decide nothing. Settings, tenants,
// delegations and the organisation are read then too, and the rows by which a hand may act become conditions of the
// commit. So what ends between click and commit is noticed, and the click is decided again.
//
// A kind that asks people is a Subject; its further buttons are in Buttons. Cards and the console offer what a subject
// Offers and nothing else, and both go by Maker, so there is one order of checks. A refusal carries a type, and
// explain.Refused makes the sentence of it.
//
// The same person deciding the same thing twice is a success that writes nothing. A second rejection with another
// reason is told what became of the gate, because its reason would be lost.
//
// A reason that is a message in a thread is a decision on two tasks at once (TakeAsReason): the message becomes the
// reason of one rejection or a request, never both.
//
// Who stands in for others is looked up only if the hand owes nothing itself. Of several principals people are asked as
// whom; nothing is asked where one is possible. A successor is found by the rule of the stage as it stands now, or
// stands above in the organisation, and Slack is asked once more whether they are a full member.
//
// A channel may get another id. The message that was clicked is still the row's card, and only Ringi's bot writes it:
// the click tells the new id, which is noted before the click counts.
package decide
