package main

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"ringi/shared/decide/intake"
	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/slackapi/inbound"
)

// bot is how messages mention Ringi: by its bot's user id, and by the bot's own id, which some of Slack's clients write.
// Either may be unknown.
type bot struct{ user, id string }

// us returns how a message of this channel may mention Ringi. The bot's own id is read only for a message that mentions
// one. Before a workspace's first request it is unknown; a direct message then mentions nobody else's bot.
func (h *Handler) us(ctx context.Context, e envelope, m message) (bot, error) {
	b := bot{user: e.bot()}
	if !strings.Contains(m.Text, "<@B") {
		return b, nil
	}
	tenant := aggregate.TenantID(e.team())
	id, err := h.bots.Ask(tenant, h.Now(), settingsFor, func() (string, error) {
		t, err := h.Store.Tenant(ctx, tenant)
		if errors.Is(err, aggregate.ErrNotFound) {
			err = nil
		}
		return t.BotID, err
	})
	if b.id = id; id == "" && m.channelType() == "im" {
		b.id = "B[A-Z0-9]+"
	}
	return b, err
}

var leadingMention = regexp.MustCompile(`^\s*<@[A-Z0-9]+(\|[^>]*)?>`)

// mention matches mentions of the bot. If the bot's user id is unknown, it matches a mention at the beginning of a text.
func (b bot) mention() *regexp.Regexp {
	if inbound.CheckID("user_id", b.user) != nil {
		return leadingMention
	}
	ids := b.user
	if b.id != "" {
		ids += "|" + b.id
	}
	return regexp.MustCompile(`[ \t]*<@(?:` + ids + `)(\|[^>]*)?>[ \t]*`)
}

// plain returns a text without Slack's escapes as it is saved: without the mentions.
func (b bot) plain(text string) string { return intake.Plain(b.mention().ReplaceAllString(text, " ")) }

// only reports whether a message of a channel mentions Ringi by nothing but the bot's own id. Slack sends no app_mention
// for it.
func (b bot) only(m message) bool {
	return b.id != "" && strings.Contains(m.Text, "<@"+b.id) && !strings.Contains(m.Text, "<@"+b.user)
}

// given is what a message says itself, not in what it only shows; see seen.Message.Given.
type given struct {
	mentioned bool
	shown     bool // it would mention Ringi or ask for something only in what it shows
}

// given reads what a message says itself. A mention that Slack reports and the text doesn't have counts as given.
// wordless says that it neither forwards anything nor has a file.
func (m message) given(b bot, wordless bool) given {
	mention := b.mention()
	everywhere := mention.MatchString(m.Text)
	if everywhere && !mention.MatchString(m.Typed()) {
		m.Blocks = nil // they aren't the whole message
	}
	said := m.Given()
	g := given{mentioned: mention.MatchString(said) || m.Type == "app_mention" && !everywhere}
	if m.channelType() != "im" && !g.mentioned {
		g.shown = true
		return g
	}
	asks := func(text string) bool { return inbound.SaysSomething(mention.ReplaceAllString(text, "")) }
	g.shown = asks(m.Text) && !asks(said) && wordless
	return g
}
