package rules

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/rules"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// coded is a box of the value of an input, and the code in it. A position has none of its own: its department is in the
// text.
func coded(value, text, note string) web.Box {
	b := web.Box{Value: value, Text: text, Note: note}
	if text != value {
		b.Code, _, _ = strings.Cut(value, between)
	}
	return b
}

func (a *asked) peopleChooser(name string, ids []string, sent url.Values) web.Chooser {
	return web.Choosing{Members: a.members, Box: a.personBox}.Choose(name, ids, sent.Get("find."+name))
}

func (a *asked) personBox(id string, on bool) web.Box {
	b := coded(id, a.person(id), "")
	if b.On = on; a.members == nil {
		return b
	}
	u, listed := a.members.Person(id)
	switch rule := a.members.Rule(u); {
	case !listed && !a.members.More:
		b.Note = a.Say("unlisted")
	case listed && rule != "":
		b.Note, b.Off = a.In("standing", rule), !on
	}
	return b
}

// channelForm is a channel's id, which somebody may type for a channel that they aren't in.
var channelForm = language.Regexp{Text: `^[CG][A-Z0-9]{2,40}$`}

// channelChooser chooses among the viewer's channels, and others by their ids.
func (a *asked) channelChooser(ids []string, query string) web.Chooser {
	c := web.Chooser{Name: "channels", Query: query}
	for _, id := range ids {
		b := coded(id, a.channel(id), "")
		b.On = true
		c.Chosen = append(c.Chosen, b)
	}
	want := strings.ToLower(strings.TrimLeft(strings.TrimSpace(query), "#＃"))
	if want == "" {
		return c
	}
	c.Searched = true
	for _, id := range a.sortedChannels() {
		named := strings.Contains(strings.ToLower(a.channels[id]), want) || strings.EqualFold(id, want)
		if slices.Contains(ids, id) || !named {
			continue
		}
		if c.More = len(c.Found) == web.MostFound; c.More {
			break
		}
		c.Found = append(c.Found, coded(id, a.channel(id), ""))
	}
	if id := strings.ToUpper(want); len(c.Found) == 0 && channelForm.Get().MatchString(id) && !slices.Contains(ids, id) {
		c.Found = append(c.Found, coded(id, id, a.Say("channel_unseen")))
	}
	return c
}

func (a *asked) sortedChannels() (ids []string) {
	for id := range a.channels {
		if a.moved[id] == "" {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(x, y string) int {
		return cmp.Or(strings.Compare(a.channels[x], a.channels[y]), strings.Compare(x, y))
	})
	return ids
}

// toolBoxes returns the tools that requests may call, and those that the rule lists besides.
func (a *asked) toolBoxes(listed []rules.Tool) (all []web.Box) {
	for _, t := range listed {
		if _, known := find(a.tools, t); !known {
			all = append(all, web.Box{Value: toolValue(t), Text: legible.OneLine(strings.TrimSpace(toolValue(t))), On: true,
				Note: a.Say("tool_unknown")})
		}
	}
	for _, x := range a.tools {
		on := slices.ContainsFunc(listed, x.Tool.Same)
		if !x.Allowed && !on {
			continue
		}
		b := web.Box{Value: toolValue(x.Tool), Text: legible.OneLine(x.Title), On: on, Note: a.Say("tool_reads")}
		if x.writes() {
			b.Note = a.Say("tool_writes")
		}
		all = append(all, b)
	}
	return all
}
