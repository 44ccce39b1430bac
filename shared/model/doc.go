// Package model calls language models for the first three layers and for the summary at the end. The packages below it
// call them for agents (turn) and contests (round), and hold the vendors' clients. No answer is trusted: each is
// checked against a schema, the tool catalog and the limits before it is shown or used.
//
// It imports tool and the areas under it. Begin with provider.
package model
