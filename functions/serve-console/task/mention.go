package task

import (
	"ringi/functions/serve-console/web"
	"ringi/shared/slack/card"
)

// prose is card.Prose with people's names.
func (r Reader) prose(s string) string { return r.Named(card.Prose(s)) }

// Named adds names to mentions of people: see web.Mentions.
func (r Reader) Named(s string) string { return web.Mentions(s, r.Person) }

// called returns a person's name and id.
func (r Reader) called(id string) string { return web.Called(id, r.Person) }
