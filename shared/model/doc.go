// Package model is the area of what thinks: this package calls language models for the first three layers and for the
// summary at the end, turn and round for agents and contests. A model's answer is not trusted: it is checked against a
// schema, the tool catalog and the limits before it is shown or used.
//
// It imports tool and what stands below. Begin with provider.
package model
