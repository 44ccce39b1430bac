package rules

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"ringi/shared/domain/rules"
	"ringi/shared/words/lazy"
	"ringi/shared/words/legible"
)

// mostFound bounds what a search shows.
const mostFound = 20

// chooser is a list of which some are chosen, with a search for others.
type chooser struct {
	Name, ID      string
	Chosen, Found []box
	Query         string
	Searched      bool
	More          bool
	One           bool // only one is chosen
	Few           bool // all are shown: there is nothing to search
}

// box is a checkbox.
type box struct {
	Value, Text, Note string
	On, Off           bool // Off: it can't be chosen
}

// Code is what tells a value from others of the same text. A position has none: its department is in the text.
func (b box) Code() string {
	code, _, _ := strings.Cut(b.Value, between)
	return code
}

func inputID(name string) string { return "r-" + strings.NewReplacer(".", "-", "_", "-").Replace(name) }

// peopleChooser chooses people of the workspace.
func (a *asked) peopleChooser(name string, ids []string, sent url.Values) chooser {
	c := chooser{Name: name, ID: inputID(name), Query: sent.Get("find." + name)}
	for _, id := range ids {
		c.Chosen = append(c.Chosen, a.personBox(id, true))
	}
	if a.members == nil || strings.TrimSpace(c.Query) == "" {
		return c
	}
	c.Searched = true
	users, _, more := a.members.Find(c.Query, mostFound)
	c.More = more
	for _, u := range users {
		if !slices.Contains(ids, u.ID) {
			c.Found = append(c.Found, a.personBox(u.ID, false))
		}
	}
	return c
}

func (a *asked) personBox(id string, on bool) box {
	b := box{Value: id, Text: a.person(id), On: on}
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
var channelForm = lazy.Regexp{Text: `^[CG][A-Z0-9]{2,40}$`}

// channelChooser chooses among the viewer's channels, and others by their ids.
func (a *asked) channelChooser(ids []string, query string) chooser {
	c := chooser{Name: "channels", ID: inputID("channels"), Query: query}
	for _, id := range ids {
		c.Chosen = append(c.Chosen, box{Value: id, Text: a.channel(id), On: true})
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
		if c.More = len(c.Found) == mostFound; c.More {
			break
		}
		c.Found = append(c.Found, box{Value: id, Text: a.channel(id)})
	}
	if id := strings.ToUpper(want); len(c.Found) == 0 && channelForm.Get().MatchString(id) && !slices.Contains(ids, id) {
		c.Found = append(c.Found, box{Value: id, Text: id, Note: a.Say("channel_unseen")})
	}
	return c
}

// sortedChannels returns the present ids of the viewer's channels by their names.
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
func (a *asked) toolBoxes(listed []rules.Tool) (all []box) {
	for _, t := range listed {
		if _, known := find(a.tools, t); !known {
			all = append(all, box{Value: toolValue(t), Text: legible.OneLine(strings.TrimSpace(toolValue(t))), On: true,
				Note: a.Say("tool_unknown")})
		}
	}
	for _, x := range a.tools {
		on := slices.ContainsFunc(listed, x.Tool.Same)
		if !x.Allowed && !on {
			continue
		}
		b := box{Value: toolValue(x.Tool), Text: legible.OneLine(x.Title), On: on, Note: a.Say("tool_reads")}
		if x.writes() {
			b.Note = a.Say("tool_writes")
		}
		all = append(all, b)
	}
	return all
}
