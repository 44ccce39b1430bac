package web

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/text/width"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

// Limits and words that all lists share.
const (
	// MostLooked bounds the newest rows that a search reads, or a page to find those that a member may see.
	MostLooked = 1000
	// MostLive bounds the rows that a page may read if it refreshes itself every few seconds.
	MostLive = 200
	// MostToChoose bounds the people among whom one is chosen; of more somebody types a name.
	MostToChoose = 200
)

// List is what lists show besides their rows.
type List struct {
	Filter      Filter
	Views       []View
	Next, First string   // addresses; empty if there is no such page
	Live        string   // address that refreshes the page; empty: the page doesn't
	Narrowed    bool     // the filter excludes something
	Short       bool     // the read stopped at MostLooked rows
	Hints       []string // of a list that has no rows yet
	Start       *View    // where one makes the first
}

// ReadList reads the page of a list at a cursor, and fills in l. at returns the address of the page at a cursor.
func ReadList[T any](c *Site, r *http.Request, v *Viewer, l *List, at func(cursor string) string,
	read func(reach people.Reach, cursor string) (store.Page[T], error)) (page store.Page[T], reach people.Reach,
	err error) {
	if reach, err = c.People.Sight(r.Context(), v.Team, v.User); err != nil {
		return page, reach, err
	}
	cursor := r.URL.Query().Get("cursor")
	page, err = read(reach, cursor)
	l.Paged(cursor, page.Next, at)
	if l.Short = page.Looked >= MostLooked; page.Looked > MostLive {
		l.Live = ""
	}
	return page, reach, err
}

// ByCursor returns what returns the address of the page of a list at a cursor.
func ByCursor(path string) func(cursor string) string {
	return func(cursor string) string { return At(path, map[string]string{"cursor": cursor}) }
}

// Paged fills in where the page of a list at a cursor leads: at returns the address of the page at another.
func (l *List) Paged(cursor, next string, at func(cursor string) string) {
	if next != "" {
		l.Next = at(next)
	}
	if l.First = at(""); cursor == "" {
		l.Live, l.First = l.First, ""
	}
}

// View is a list that is offered beside others, as the layout's navigation shows them.
type View struct {
	Path, Text string
	Here       bool
}

// Filter is the form that narrows a list by the parts of its address.
type Filter struct {
	Path   string
	Hidden []Field // that stay as they are
	Fields []Field
	Submit string // text of its button
	Clear  string // of the link to the whole list; empty: nothing is left out
	Search bool   // it looks for something by its name
}

// Field is an input of a form: a line, a longer text if it has rows, or a select if it has choices.
type Field struct {
	Name, Label, Value string
	ID                 string // empty: its name
	Type, Mode, Class  string // of a line, of its keyboard, and how it looks; empty: a text
	Rows               string
	Choices            []Choice
	Most               int // characters; 0: no limit
	Hint, HintID       string
	Problems           any  // a list with texts, which stand behind the hint
	Off                bool // the browser offers no earlier values
	Required           bool
}

// Day is a field for a day.
func Day(name, label, value string) Field {
	return Field{Name: name, Label: label, Value: value, Type: "date"}
}

// Select is a field with choices; anything is the text of the choice of none.
func Select(name, label, anything string, choices []Choice) Field {
	return Field{Name: name, Label: label, Choices: append([]Choice{{Text: anything}}, choices...)}
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

// Number is a figure at the top of a page.
type Number struct{ Name, Text string }

type Choice struct {
	Value, Text string
	Chosen      bool
}

// Compare sorts choices by their texts.
func (x Choice) Compare(y Choice) int {
	return cmp.Or(cmp.Compare(x.Text, y.Text), cmp.Compare(x.Value, y.Value))
}

// MembersToChoose are the people who may be chosen, without one of them; none is the text of the choice of nobody, if
// any.
func MembersToChoose(m people.Members, chosen, without, none string) (out []Choice) {
	if none != "" {
		out = append(out, Choice{Text: none, Chosen: chosen == ""})
	}
	names := map[string]string{}
	for _, u := range m.People {
		if m.Rule(u) == "" && u.ID != without {
			names[u.ID] = language.OneLine(cmp.Or(u.Name, u.ID))
		}
	}
	Distinct(names)
	for _, u := range m.People {
		if name := names[u.ID]; name != "" {
			out = append(out, Choice{Value: u.ID, Text: name, Chosen: u.ID == chosen})
		}
	}
	return out
}

// Known refuses a filter's value that isn't known.
func Known(filter, value string, known bool) error {
	if value == "" || known {
		return nil
	}
	return aggregate.Problem{Field: filter, Code: "must be one of the list's"}
}

// Days reads the first and the last day of a filter; to is the day after the last.
func Days(first, last string) (from, to time.Time, err error) {
	if from, err = DayOf(first); err == nil && last != "" {
		to, err = DayOf(last)
		to = to.AddDate(0, 0, 1)
	}
	if err != nil || !to.IsZero() && from.After(to) {
		err = aggregate.Problem{Field: "from", Code: "must be a day before the last"}
	}
	return from, to, err
}

// DayOf returns the start of a day in the tenant's zone, as pages show it; the zero time for "".
func DayOf(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.ParseInLocation(time.DateOnly, text, tenancy.Zone())
}

// Channel names the channel of a request as far as the viewer is in it.
func Channel(v *Viewer, o aggregate.Origin, names map[string]string) string {
	if o.ChannelType == "im" {
		return v.Texts("tasks").Say("direct")
	}
	return cmp.Or(ChannelName(names, o.Channel), v.Texts("task").Say("that_channel"))
}

// ChannelName returns a channel's name, or "" if the person isn't in that channel.
func ChannelName(names map[string]string, id string) string {
	if name := language.ForeignLine(names[id]); name != "" {
		return "#" + name
	}
	return ""
}

// Digits returns a number as people type it in half width, without commas, spaces and dollar signs.
func Digits(text string) string {
	return strings.NewReplacer(",", "", " ", "", "$", "").Replace(width.Narrow.String(text))
}
