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

// choose chooses among boxes: all of them if they are few, else those that somebody searches for. What is chosen stays,
// also if it is none of them: then it is said by lost.
func choose(c web.Chooser, chosen []string, all []web.Box, lost func(value string) web.Box) web.Chooser {
	for _, value := range chosen {
		b := lost(value)
		if i := slices.IndexFunc(all, func(x web.Box) bool { return x.Value == value }); i >= 0 {
			b, b.Note = all[i], ""
		}
		b.On = true
		c.Chosen = append(c.Chosen, b)
	}
	want := folded(c.Query)
	if c.Searched = c.Few || want != ""; !c.Searched {
		return c
	}
	for _, b := range all {
		if slices.Contains(chosen, b.Value) || !strings.Contains(folded(b.Text+b.Value+b.Note), want) {
			continue
		}
		if c.More = len(c.Found) == web.MostFound; c.More {
			break
		}
		c.Found = append(c.Found, b)
	}
	return c
}

// folded is a text as it is compared with what somebody searches for.
func folded(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }

func (a *asked) peopleChooser(name string, ids []string, sent url.Values) web.Chooser {
	return web.Choosing{Members: a.members, Box: a.personBox}.Choose(name, ids, sent.Get("find."+name))
}

func (a *asked) personBox(id string, on bool) web.Box {
	b := web.Box{Value: id, Text: a.person(id), On: on}
	if a.members == nil {
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
	box := func(id string) web.Box { return web.Box{Value: id, Text: a.channel(id)} }
	of := web.Chooser{Name: "channels", Query: strings.TrimLeft(strings.TrimSpace(query), "#＃")}
	c := choose(of, ids, web.Each(a.sortedChannels(), box), box)
	id := strings.ToUpper(c.Query)
	if c.Query = query; len(c.Found) == 0 && channelForm.Get().MatchString(id) && !slices.Contains(ids, id) {
		c.Found = append(c.Found, web.Box{Value: id, Text: id, Note: a.Say("channel_unseen")})
	}
	return c
}

// toTell are nobody, the viewer's channels and the user groups, and what is chosen.
func (a *asked) toTell(is string) []web.Choice {
	all := []web.Choice{{Text: a.Say("tells_none"), Chosen: is == ""}}
	for _, id := range a.sortedChannels() {
		all = append(all, web.Choice{Value: id, Text: a.channel(id), Chosen: id == is})
	}
	for _, b := range a.groupChooser("", nil, url.Values{}).Found {
		all = append(all, web.Choice{Value: b.Value, Text: b.Text + " " + b.Note, Chosen: b.Value == is})
	}
	if !slices.ContainsFunc(all, func(c web.Choice) bool { return c.Chosen }) {
		all = append(all, web.Choice{Value: is, Text: a.toldTo(is), Chosen: true})
	}
	return all
}

func (a *asked) sortedChannels() (ids []string) {
	for id := range a.channels {
		ids = append(ids, id)
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
