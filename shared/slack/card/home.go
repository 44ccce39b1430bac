package card

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
)

// HomeCallback names the Home tab in the payload of a click there, NewRequest its button for a request.
const HomeCallback, NewRequest = "ringi_home", "new_request"

// Summary has everything that the Home tab shows to one person.
type Summary struct {
	Waiting  []Waits // waits for this person's decision; the oldest first
	Looked   int     // if positive: only this many of the workspace's oldest waiting items were read
	Returned []Mine  // the person's own requests that were given back to them: it is their turn
	Mine     []Mine  // their others, the newest first
	MoreMine More    // of these, which are not listed
	Console  string  // the console's address; empty: no links
}

// leadsTo returns a button that leads elsewhere. A click on it does nothing else.
func leadsTo(action, text, url string) slack.BlockElement {
	b := slack.NewButtonBlockElement(action, "", emojiLabel(text))
	b.URL = url
	return b
}

// leads returns the buttons for a request, a decision, the console and, if the workspace has rules, naming who stands
// in.
func (w *askWords) leads(in Summary, s tenancy.Settings) slack.Block {
	buttons := []slack.BlockElement{button(w.HomeNew, NewRequest, "", slack.StylePrimary),
		button(w.MatterTitle, NewMatter, "", "")}
	if s.RulesRev > 0 && in.Console != "" {
		buttons = append(buttons, leadsTo("name_stand_in", w.HomeStandIn, in.Console+"/stand-ins"))
	}
	if in.Console != "" {
		buttons = append(buttons, leadsTo("open_console", w.HomeConsole, in.Console))
	}
	return slack.NewActionBlock("", buttons...)
}

// Waits is an open question with its subject. Link leads to its card, and may be empty.
type Waits struct {
	Of       explain.Asking
	Question aggregate.Question
	Link     string
	Stage    int    // of its route, at which the person, or whom they stand in for, owes a stamp; 0: none names them
	For      string // whom they stand in for
}

// More is how many are left out, beside others that were not even read.
type More struct {
	N      int
	Unread bool
}

// more counts what is left out; nil: nothing is.
func (w *askWords) more(m More) []string {
	n := strconv.Itoa(max(1, m.N))
	switch {
	case m.Unread:
		n += "+"
	case m.N <= 0:
		return nil
	}
	return []string{fill(wordsOf.In(w.Locale).EnclosedMore, "n", n)}
}

// Mine is one of the person's own requests.
type Mine struct {
	Task *task.Aggregate
	Link string
}

// maxHomeLines is how many lines a Home tab has, of which what waits takes half if there is more of the person's own.
const maxHomeLines = 20

// HomeView draws a person's Home tab: a line with a link of each thing that waits for them, what is due first at the
// top, and of their own requests.
func HomeView(in Summary, s tenancy.Settings, locale string) slack.HomeTabViewRequest {
	w, own := askWordsOf.In(locale), s
	own.Locale = locale
	line := func(x Mine) string {
		title, next := mineLine(x, w, own)
		return "• " + title + " · " + next
	}
	var turn, mine []string
	for _, x := range in.Returned {
		turn = append(turn, line(x))
	}
	for _, x := range byDue(in.Waiting) {
		asks := x.route(own, w)
		turn = append(turn, "• "+waitsLine(x, w)+fill(w.WaitsFor, "who", asks.Asks())+opens(x.Link, w))
	}
	for _, x := range in.Mine {
		mine = append(mine, line(x))
	}
	left := maxHomeLines
	list := func(lines []string, most int, m More) []slack.Block {
		n := min(len(lines), most, left)
		left -= n
		m.N += len(lines) - n
		return append(rows(lines[:n]), contextOf(w.more(m))...)
	}
	blocks := []slack.Block{header(fill(w.HomeWaiting, "n", len(turn)))}
	if in.Looked > 0 { // not all were read
		blocks = []slack.Block{header(w.HomeWaitingSome)}
	}
	most := max(maxHomeLines/2, maxHomeLines-len(mine))
	blocks = append(blocks, list(turn, most, More{Unread: in.Looked > 0 && len(turn) > most})...)
	switch {
	case in.Looked > 0:
		blocks = append(blocks, contextLine(fill(w.HomeMore, "n", in.Looked)))
	case len(turn) == 0:
		blocks = append(blocks, section(w.HomeNothing))
	}
	blocks = append(blocks, divider(), header(w.HomeMine))
	if len(mine) == 0 {
		blocks = append(blocks, section(w.HomeNoneMine))
	}
	blocks = append(blocks, list(mine, maxHomeLines, in.MoreMine)...)
	blocks = append(blocks, divider(), contextLine(w.HomeHow), w.leads(in, s))
	return slack.HomeTabViewRequest{Type: slack.VTHomeTab, CallbackID: HomeCallback,
		Blocks: slack.Blocks{BlockSet: blocks}}
}

// byDue returns first what names the person; all in the order in which it is due, what has no end last.
func byDue(all []Waits) []Waits {
	all = slices.Clone(all)
	sort.SliceStable(all, func(i, j int) bool {
		x, y := &all[i], &all[j]
		at, other := x.Question.DecideBy, y.Question.DecideBy
		switch named := x.Stage > 0; {
		case named != (y.Stage > 0):
			return named
		case at == nil || other == nil:
			return at != nil && other == nil
		}
		return at.Before(*other)
	})
	return all
}

func rows(lines []string) (out []slack.Block) {
	for five := range slices.Chunk(lines, 5) {
		out = append(out, section(cut(strings.Join(five, "\n"), maxSection)))
	}
	return out
}
