package web

import (
	"cmp"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/lazy"
)

// Limits and words that all lists share.
const (
	// MostLooked bounds the newest rows that a search reads, or that one page reads to find those that a member may
	// see.
	MostLooked = 1000
	// MostLive bounds the rows that a page may read if it refreshes itself every few seconds.
	MostLive = 200
	// Myself stands for the viewer in addresses that other people may open too.
	Myself = "me"
)

// List is what the lists of requests and conversations show besides their rows.
type List struct {
	Bad               []string // sentences on invalid values in the address
	Statuses, People  []Choice // the options of the filters
	Next, Prev, First string   // addresses; empty if there is no such page
	Live              string   // address that refreshes the page; empty: the page doesn't
	Narrowed          bool     // the filter excludes something
	Short             bool     // the read stopped at MostLooked rows
	Unsaid            bool     // Slack does not say which channels the viewer is in
}

// ReadList reads the page of a list at a cursor, and fills in l. at returns the address of the page at a cursor. A
// viewer who pages back to the beginning is redirected to the first page, which refreshes itself; led reports that
// redirect.
func ReadList[T any](
	c *Site, w http.ResponseWriter, r *http.Request, v *Viewer, l *List, cursor string, at func(cursor string) string,
	read func(people.Reach) (store.Page[T], error),
) (page store.Page[T], reach people.Reach, led bool, err error) {
	if reach, err = c.People.Sight(r.Context(), v.Team, v.User); err != nil {
		slog.WarnContext(r.Context(), "a person's channels are not known", "err", err)
		l.Unsaid = true
	}
	if len(l.Bad) == 0 {
		if page, err = read(reach); BadCursor(err) {
			Refuse(r, v, err.Error())
			l.Bad = append(l.Bad, v.Texts("layout").Say("bad_cursor"))
		} else if err != nil {
			return page, reach, false, err
		}
	}
	l.Short = page.Looked >= MostLooked
	if page.Next != "" {
		l.Next = at(page.Next)
	}
	if page.Prev != "" {
		l.Prev = at(page.Prev)
	}
	switch good := len(l.Bad) == 0; {
	case cursor == "" && good && page.Looked <= MostLive:
		l.Live = at("")
	case cursor != "":
		if l.First = at(""); good && page.Prev == "" && page.Looked > 0 {
			http.Redirect(w, r, l.First, http.StatusSeeOther)
			return page, reach, true, nil
		}
	}
	return page, reach, false, nil
}

// At returns an address with the non-empty values.
func At(path string, values map[string]string) string {
	q := url.Values{}
	for name, value := range values {
		if value != "" {
			q.Set(name, value)
		}
	}
	return (&url.URL{Path: path, RawQuery: q.Encode()}).String()
}

type Choice struct {
	Value, Text string
	Chosen      bool
}

// Statuses returns the options of a filter by status, labelled by the page's texts.
func Statuses[T ~string](words Texts, chosen string, all ...T) (out []Choice) {
	for _, s := range all {
		out = append(out, Choice{string(s), words.In("statuses", s), string(s) == chosen})
	}
	return out
}

// PeopleToChoose returns the options of a filter by person: the viewer first, then the others by name.
func PeopleToChoose(v *Viewer, words Texts, names map[string]string, chosen string) []Choice {
	out := []Choice{{Myself, words.Say("myself"), chosen == v.User}}
	for id, name := range names {
		if id != v.User {
			out = append(out, Choice{id, card.OneLine(name), id == chosen})
		}
	}
	slices.SortFunc(
		out[1:], func(a, b Choice) int { return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Value, b.Value)) },
	)
	return out
}

// BadFilter has the invalid fields of an address, as the page's texts name them.
type BadFilter map[string]bool

// PersonForm matches a filter's person: a Slack user id or Myself.
var PersonForm = lazy.Regexp{Text: `^(?:me|[UW][A-Z0-9]{2,40})$`}

// DayOf returns the start of a day in the tenant's zone, as pages show it; the zero time for "".
func DayOf(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.ParseInLocation(time.DateOnly, text, tenancy.Zone())
}

// Problems returns a sentence for each invalid value in an address.
func Problems(t Texts, bad BadFilter) []string {
	var out []string
	for _, field := range slices.Sorted(maps.Keys(bad)) {
		out = append(out, t.In("bad", field))
	}
	return out
}

// BadCursor reports whether the error means that the address has an invalid cursor.
func BadCursor(err error) bool {
	field, ok := errors.AsType[aggregate.ErrField](err)
	return ok && field.Field == "cursor"
}

// Channel names the channel of a request, or returns its id if the viewer isn't in it.
func Channel(v *Viewer, o aggregate.Origin, names map[string]string) string {
	if o.ChannelType == "im" {
		return v.Texts("tasks").Say("direct")
	}
	return cmp.Or(ChannelName(names, o.Channel), o.Channel)
}

// ChannelName returns a channel's name, or "" if the person isn't in that channel.
func ChannelName(names map[string]string, id string) string {
	if name := card.OneLine(names[id]); name != "" {
		return "#" + name
	}
	return ""
}

// Digits converts full-width digits, points and minus signs, and removes commas, spaces and dollar signs.
func Digits(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case '０' <= r && r <= '９':
			return r - '０' + '0'
		case r == '．':
			return '.'
		case r == '－':
			return '-'
		case r == ',', r == '，', r == ' ', r == '\u3000', r == '$', r == '＄':
			return -1
		}
		return r
	}, text)
}
