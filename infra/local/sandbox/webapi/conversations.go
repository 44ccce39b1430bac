package webapi

import (
	"cmp"
	"slices"
	"strings"
)

func describe(c Channel) reply {
	out := reply{
		"id": c.ID, "created": c.Created, "is_archived": c.Archived, "is_im": c.IM != "", "is_org_shared": false,
		"is_ext_shared": c.Shared, "is_shared": c.Shared, "context_team_id": "", "updated": c.Created * 1000,
	}
	if c.IM != "" {
		out["user"] = c.IM
		return out
	}
	for _, kind := range []string{"is_group", "is_mpim", "is_private"} {
		out[kind] = false
	}
	out["is_channel"] = true
	out["is_general"] = c.ID == General
	out["is_member"] = slices.Contains(c.Members, Bot)
	out["name"], out["name_normalized"] = c.Name, c.Name
	out["num_members"] = len(c.Members)
	out["purpose"] = reply{"value": c.Purpose, "creator": "", "last_set": 0}
	out["topic"] = reply{"value": "", "creator": "", "last_set": 0}
	return out
}

func openConversation(a *API, p params) (reply, error) {
	id := p.str("channel")
	if id == "" {
		users := strings.FieldsFunc(p.str("users"), func(r rune) bool { return r == ',' || r == ' ' })
		users = slices.DeleteFunc(users, func(u string) bool { return u == Bot })
		if len(users) != 1 {
			return nil, refuse("users_list_not_supplied")
		}
		if _, err := a.ws.User(users[0]); err != nil {
			return nil, err
		}
		id = users[0]
	}
	c, err := a.ws.Channel(id)
	if err != nil {
		return nil, err
	}
	out := reply{"id": c.ID}
	if p.flag("return_im") {
		out = describe(c)
	}
	return reply{"no_op": true, "already_open": true, "channel": out}, nil
}

func kindOf(c Channel) string {
	if c.IM != "" {
		return "im"
	}
	return "public_channel"
}

// maxConversations is the largest limit of users.conversations.
const maxConversations = 999

// userConversations lists the conversations of a user, by default the bot: all public channels that the user is in, and
// other conversations that the bot is in too. The channels have no is_member and num_members.
func userConversations(a *API, p params) (reply, error) {
	user, kinds := cmp.Or(p.str("user"), Bot), cmp.Or(p.str("types"), "public_channel")
	if _, err := a.ws.User(user); err != nil {
		return nil, err
	}
	for kind := range strings.SplitSeq(kinds, ",") {
		if !slices.Contains([]string{"public_channel", "private_channel", "mpim", "im"}, kind) {
			return nil, refuse("invalid_types")
		}
	}
	if p.number("limit", 100) > maxConversations {
		return nil, refuse("invalid_limit")
	}
	found := []reply{}
	for _, c := range a.ws.Channels() {
		seen := slices.Contains(c.Members, user) &&
			(kindOf(c) == "public_channel" || slices.Contains(c.Members, Bot))
		if !seen || !slices.Contains(strings.Split(kinds, ","), kindOf(c)) || c.Archived && p.flag("exclude_archived") {
			continue
		}
		out := describe(c)
		delete(out, "is_member")
		delete(out, "num_members")
		found = append(found, out)
	}
	channels, next, err := page(p, found, 100)
	return reply{"channels": channels, "response_metadata": next}, err
}

func infoConversation(a *API, p params) (reply, error) {
	c, err := a.ws.Channel(p.str("channel"))
	if err != nil {
		return nil, err
	}
	out := describe(c)
	if !p.flag("include_num_members") {
		delete(out, "num_members")
	}
	return reply{"channel": out}, nil
}

func conversationMembers(a *API, p params) (reply, error) {
	c, err := a.ws.Channel(p.str("channel"))
	if err != nil {
		return nil, err
	}
	members, next, err := page(p, c.Members, 100)
	return reply{"members": members, "response_metadata": next}, err
}

func (a *API) readable(p params) (Channel, Range, error) {
	r := Range{Oldest: p.str("oldest"), Latest: p.str("latest"), Inclusive: p.flag("inclusive")}
	c, err := a.ws.Channel(p.str("channel"))
	if err != nil {
		return c, r, err
	}
	if !slices.Contains(c.Members, Bot) {
		return c, r, NotInChannel
	}
	return c, r, nil
}

func history(a *API, p params) (reply, error) {
	c, r, err := a.readable(p)
	if err != nil {
		return nil, err
	}
	messages, err := a.ws.History(c.ID, r)
	if err != nil {
		return nil, err
	}
	return pageOfMessages(p, messages, 100)
}

func replies(a *API, p params) (reply, error) {
	c, r, err := a.readable(p)
	if err != nil {
		return nil, err
	}
	messages, err := a.ws.Replies(c.ID, p.str("ts"), r)
	if err != nil {
		return nil, err
	}
	return pageOfMessages(p, messages, 1000)
}

// pageOfMessages returns a page of messages, without metadata unless the call asks for it.
func pageOfMessages(p params, all []Message, fallback int) (reply, error) {
	messages, next, err := page(p, all, fallback)
	if err != nil {
		return nil, err
	}
	shown := append([]Message{}, messages...)
	if !p.flag("include_all_metadata") {
		for i := range shown {
			shown[i].Metadata = nil
		}
	}
	return reply{"messages": shown, "has_more": next["next_cursor"] != "", "response_metadata": next}, nil
}
