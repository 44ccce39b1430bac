package card

import (
	"strings"

	"ringi/shared/domain/circulation"
)

func (r routed) stages() []string {
	parts := make([]string, len(r.st.Stages))
	for i := range parts {
		parts[i] = r.stage(i)
	}
	return parts
}

// stage draws one stage of the path, with its mark and its word.
func (r routed) stage(i int) string {
	s, w := &r.st.Stages[i], r.texts
	name := or(inline(s.Name, maxStage), r.w.None)
	if text := w.Filled[s.Filled]; text != "" {
		name = fill(text, "stage", name)
	}
	switch {
	case s.LeftOut != "":
		why, known := w.LeftOut[s.LeftOut]
		if !known {
			why = inline(s.LeftOut, maxStage)
		}
		return fill(w.Skipped, "stage", name, "why", why)
	case r.st.Ended() != "" && r.st.Last.Stage == i+1:
		text := w.SentBack
		if r.st.Ended() == circulation.Deny {
			text = w.Denied
		}
		return fill(text, "stage", name, "who", r.hand(r.st.Last)+" "+when(r.st.Last.At))
	case s.Owed == 0:
		return fill(w.Done, "stage", name, "who", r.stamps(s))
	case r.open && r.st.Present == i+1:
		return r.present(s, name)
	}
	return fill(w.Later, "stage", r.needs(s, name))
}

// present draws the stage that is asked. Others' stamps at it don't change a person's copy.
func (r routed) present(s *circulation.StageState, name string) string {
	switch {
	case r.copy != nil:
		return fill(r.texts.Present, "stage", r.needs(s, name))
	case s.Need == 1:
		return fill(r.texts.Present, "stage", name)
	}
	text := fill(r.texts.Progress, "stage", name, "given", len(s.Stamps), "need", s.Need)
	if len(s.Stamps) > 0 && !r.brief {
		text += fill(r.texts.Given, "who", r.stamps(s))
	}
	return text
}

// needs adds to a stage's name how many of its people have to stamp.
func (r routed) needs(s *circulation.StageState, name string) string {
	if len(s.People) < 2 {
		return name
	}
	return fill(r.texts.Needs, "stage", name, "people", len(s.People), "need", s.Need)
}

// stamps names who stamped at a stage, and when the last one did while people are asked.
func (r routed) stamps(s *circulation.StageState) string {
	var hands []string
	for _, act := range s.Stamps[:min(len(s.Stamps), maxStamps)] {
		hands = append(hands, r.hand(act))
	}
	text := strings.Join(hands, r.texts.And)
	if more := len(s.Stamps) - len(hands); more > 0 {
		text = fill(r.texts.Others, "who", text, "n", more)
	}
	if r.open && len(s.Stamps) > 0 {
		text += " " + when(s.Stamps[len(s.Stamps)-1].At)
	}
	return text
}

// folded counts the settled stages and who stamped at them; parts are all stages as they are drawn else.
func (r routed) folded(parts []string) string {
	var out []string
	var acts []*circulation.Act
	n, at := 0, 0
	for i := range r.st.Stages {
		if s := &r.st.Stages[i]; s.LeftOut == "" && s.Owed == 0 {
			if n++; n == 1 {
				at = len(out)
				out = append(out, "")
			}
			acts = append(acts, s.Stamps...)
			continue
		}
		out = append(out, parts[i])
	}
	if n > 0 {
		out[at] = fill(r.texts.Folded, "n", n, "who", r.first(acts))
	}
	return strings.Join(out, " → ")
}

// first names whose hand gave the first of some stamps, and counts the other people.
func (r routed) first(acts []*circulation.Act) string {
	who := map[string]bool{}
	for _, act := range acts {
		who[act.Hand.User] = true
	}
	if len(who) < 2 {
		return r.hand(acts[0])
	}
	return fill(r.texts.Others, "who", r.hand(acts[0]), "n", len(who)-1)
}

// hand names who acted. A stand-in is named before whom they stood in for, since the other order reads either way.
func (r routed) hand(act *circulation.Act) string {
	if act.Hand.User == act.Principal.User {
		return r.called(act.Hand.User)
	}
	return fill(r.texts.StandIn, "hand", r.called(act.Hand.User), "principal", r.called(act.Principal.User))
}

// called names somebody who acted, as every card names who decided. Slack tells nobody of a message that is updated, and
// rows have no names: looking them up would make cards of the same rows differ.
func (d drawing) called(user string) string { return d.w.mention(user) }

// seenUnits counts what people see of a line: of times and people about what Slack shows in their place.
func seenUnits(s string) (n int) {
	const ofTime, ofPerson = 16, 8
	for {
		before, rest, found := strings.Cut(s, "<")
		n += units(before)
		if !found {
			return n
		}
		if n += ofPerson; strings.HasPrefix(rest, "!date") {
			n += ofTime - ofPerson
		}
		_, s, _ = strings.Cut(rest, ">")
	}
}
