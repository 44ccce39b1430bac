package web

import (
	"cmp"
	"errors"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/card"
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
