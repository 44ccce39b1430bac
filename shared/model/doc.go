// Package model calls language models for the first three layers and for the summary at the end. The packages below it
// call them for agents (turn) and contests (round), and hold the vendors' clients. No answer is trusted: each is
// checked against a schema, the tool catalog and the limits before it is shown or used.
//
// It imports tool and the areas under it. Begin with provider.
//
// All wires share one reader (hear.go). An answer counts only if its reason to stop is known to mean that it is whole;
// anything else broke off, is asked for once more, and is paid for both times. Half an answer is never shown, judged or
// made a proposal. A call whose arguments, put together as servers send them, are not one JSON object broke off too. A
// call of no tool never goes back to a vendor.
//
// Thoughts count as a part of the answer, so up to 16,384 tokens more are asked for, within the model's limit
// (output.go); an answer that was cut off is asked for once more with twice as many. What a vendor hangs on a call or
// thinks before it (Opaque) is kept as it is and goes back to the wire and model that it came from, to no other, and of
// Claude only where everything before it is as it was. A thought between tags is one only at the beginning of a text: a
// quoted tag hides nothing (think.go).
//
// The vendor is asked to hold to a schema. One that refuses is asked in words, and what comes is checked all the same.
// Schemas that a vendor would refuse go to it as text (schema.TakenBy).
//
// Each call is counted with its cost, under the name that was asked where the answer's is unknown. Tokens that an
// endpoint doesn't report are estimated from the texts, so that budgets hold. A model of unknown price isn't called
// where a limit is set: unknown is not zero.
//
// What was sent is put into the bucket while the model answers, byte for byte and without headers, which hold the key.
// A bucket that is down fails no generation.
//
// Words of people, files and tools are data: they stand in parts of their own, spelled as people see them, and never
// among the rules.
package model
