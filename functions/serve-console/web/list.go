package web

import (
	"cmp"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
)

// What lists of pages have in common.
const (
	// MostLooked is how many of the newest rows a search looks at, and how many a page of those that a member may see.
	MostLooked = 1000
	// MostLive is how many rows a page may cost that is fetched again every few seconds.
	MostLive = 200
	// Myself is the person who looks, in an address that others may open too.
	Myself = "me"
)

// List is what lists of requests and of conversations show beside their rows.
type List struct {
	Bad               []string // sentences on what the address says wrong
	Statuses, People  []Choice // the options of the filters
	Next, Prev, First string   // addresses, empty without such a page
	Live              string   // address, empty when the page is not fetched again
	Narrowed          bool     // something is left out by the filter
	Short             bool     // as many rows as may be were looked at
	Unsaid            bool     // Slack does not say which channels the viewer is in
}

// ReadList reads the page of a list that stands behind a cursor, and notes in l what surrounds it. at gives the address
// of the page behind a cursor. A browser that has gone back to the beginning is led to the first page, which is kept up
// to date; led then says so.
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

// At is an address with those values that there are.
func At(path string, values map[string]string) string {
	q := url.Values{}
	for name, value := range values {
		if value != "" {
			q.Set(name, value)
		}
	}
	return (&url.URL{Path: path, RawQuery: q.Encode()}).String()
}

// Choice is an option of a filter.
type Choice struct {
	Value, Text string
	Chosen      bool
}

// Statuses are the options of a list's filter by status, each as the page's texts call it.
func Statuses[T ~string](words Texts, chosen string, all ...T) (out []Choice) {
	for _, s := range all {
		out = append(out, Choice{string(s), words.In("statuses", s), string(s) == chosen})
	}
	return out
}

// PeopleToChoose are the options of a list's filter by person: the viewer first, then those who are named, by their
// names.
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

// BadFilter are the fields of an address that can't be taken, as the page's words name them.
type BadFilter map[string]bool

// PersonForm is what a filter takes for a person.
var PersonForm = regexp.MustCompile(`^(?:me|[UW][A-Z0-9]{2,40})$`)

// DayOf is the beginning of a day in the zone that pages are written in; the zero time for none.
func DayOf(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.ParseInLocation(time.DateOnly, text, Zone)
}

// Problems are the sentences on what an address says wrong.
func Problems(t Texts, bad BadFilter) []string {
	var out []string
	for _, field := range slices.Sorted(maps.Keys(bad)) {
		out = append(out, t.In("bad", field))
	}
	return out
}

// BadCursor reports whether an address asked for a page that there is not.
func BadCursor(err error) bool {
	field, ok := errors.AsType[aggregate.ErrField](err)
	return ok && field.Field == "cursor"
}

// Channel names where something was asked for: a channel by its name, where the viewer is in it, else by its id.
func Channel(v *Viewer, o aggregate.Origin, names map[string]string) string {
	if o.ChannelType == "im" {
		return v.Texts("tasks").Say("direct")
	}
	return cmp.Or(ChannelName(names, o.Channel), o.Channel)
}

// ChannelName is how a channel is called among those that somebody is in, empty for any other.
func ChannelName(names map[string]string, id string) string {
	if name := card.OneLine(names[id]); name != "" {
		return "#" + name
	}
	return ""
}

// Digits is a number as people type it: in wide digits, with commas between thousands.
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
