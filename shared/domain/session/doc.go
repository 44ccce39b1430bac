// Package session is the domain of conversations with agents: what people and an agent say, the actions that an agent
// proposes, and what becomes of them. Every decision is a pure function of the rows as they were loaded and makes a Change.
//
// Nothing is executed that nobody approved: an action reaches executing from approved alone, and approved by a person's stamp
// or by an administrator's rule.
package session
