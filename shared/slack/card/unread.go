package card

import (
	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// ReadAfter is the button by which somebody confirms that they have read what a stand-in stamped for them (後閲).
const ReadAfter = "read_after"

// readsAfter returns that button for the person of a copy at whose stage there is something to read, and a line; once
// they have read it, when that was.
func (r routed) readsAfter(value, id string) []slack.Block {
	if r.a == nil {
		return nil
	}
	for _, act := range r.a.ToRead(r.gate, circulation.Person{User: r.copy.User}) {
		if act.Stage == r.copy.Stage {
			return []slack.Block{contextLine(r.texts.ReadWaits), slack.NewActionBlock(blockID(id, 0),
				button(r.texts.ReadAfter, ReadAfter, value, slack.StylePrimary))}
		}
	}
	for _, act := range r.st.ReadAfter() {
		for _, x := range r.a.Reads {
			if act.Reader.User == r.copy.User && act.Stage == r.copy.Stage && x.Of(r.gate, act) {
				return []slack.Block{contextLine(r.readAt(act, x))}
			}
		}
	}
	return nil
}

func (r routed) readAt(act circulation.ToRead, x *aggregate.Reading) string {
	return fill(r.texts.ReadAt, "who", r.w.mention(act.Reader.User), "when", when(x.ReadAt))
}

const maxUnread = 5 // gates on the Home tab that are to be read

// unread lists on somebody's tab what they are to read: nothing waits for it, so it comes after what does.
func (w *askWords) unread(in Summary) (out []slack.Block) {
	r := routeWordsOf.In(w.Locale)
	for i, x := range in.Unread {
		if i == maxUnread {
			return append(out, contextLine(w.more(More{N: len(in.Unread) - i})...))
		}
		if i == 0 {
			out = []slack.Block{divider(), header(r.ReadWaiting)}
		}
		out = append(out, section("• "+waitsLine(x, w)+opens(x.Link, w)), slack.NewActionBlock(
			blockID(x.Of.Ref().ID, 0), button(r.ReadAfter, ReadAfter, x.Question.ID, "")))
	}
	return out
}

// readings says of the stand-ins' stamps at a gate who has read them, and who hasn't.
func (r routed) readings() (text string) {
	if r.a == nil {
		return ""
	}
	for _, act := range r.st.ReadAfter() {
		said := fill(r.texts.ReadNot, "who", r.w.mention(act.Reader.User))
		for _, x := range r.a.Reads {
			if x.Of(r.gate, act) {
				said = r.readAt(act, x)
			}
		}
		if text != "" {
			text += " · "
		}
		text += said
	}
	return text
}
