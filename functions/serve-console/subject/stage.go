package subject

import (
	"fmt"
	"slices"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/circulation"
)

// The states of a stage, by which it has a mark, a colour and a word.
const (
	done     = "done"
	present  = "present"
	later    = "later"
	sentBack = "sent_back"
	denied   = "denied"
	unasked  = "unasked" // the gate was over before the stage was done
)

var stageMarks = map[string]string{
	done: "✅", present: "🔵", later: "⬜", sentBack: "↩️", denied: "❌",
	unasked: "⬜",
}

var badges = map[string]string{
	done: "badge-good", present: "badge-wait", sentBack: "badge-bad", denied: "badge-bad",
}

// stage draws the stage with this index.
func (d *drawing) stage(i int) Stage {
	s := &d.st.Stages[i]
	state := d.stateOf(i)
	out := Stage{Name: d.called(s), Present: state == present, Mark: stageMarks[state],
		State: d.words.In("states", state), Badge: badges[state], Waiting: d.words.Say("owes")}
	out.Need = d.needs(s)
	if s.Need > 1 {
		out.Count = fmt.Sprintf("%d/%d", s.Need-s.Owed, s.Need)
	}
	d.people(i, &out)
	out.Stamps = d.stamps(s)
	if d.st.Ended() != "" && d.st.Last.Stage == i+1 {
		end := d.act(d.st.Last)
		out.End = &end
	}
	if out.Present {
		out.Owed = d.words.Say("owed", "n", s.Owed)
		out.DecideBy = web.TimeOf(s.DecideBy)
	}
	return out
}

// needs says how many of a stage's people have to approve; of one person it goes without saying.
func (d *drawing) needs(s *circulation.StageState) string {
	switch {
	case s.Mode == circulation.ModeChannel:
		return d.words.Say("of_channel", "channel", d.Channel)
	case len(s.People) < 2:
		return ""
	case s.Need == len(s.People):
		return d.words.Say("need_all", "people", len(s.People))
	}
	return d.words.Say("need", "need", s.Need, "people", len(s.People))
}

// stamps draws a stage's stamps.
func (d *drawing) stamps(s *circulation.StageState) []RouteAct {
	return web.Each(s.Stamps, d.act)
}

func (d *drawing) stateOf(i int) string {
	s := &d.st.Stages[i]
	switch ended := d.st.Ended(); {
	case ended == circulation.SendBack && d.st.Last.Stage == i+1:
		return sentBack
	case ended != "" && d.st.Last.Stage == i+1:
		return denied
	case s.Owed == 0:
		return done
	case !d.open:
		return unasked
	case d.st.Present == i+1:
		return present
	}
	return later
}

func (d *drawing) people(i int, out *Stage) {
	owes := d.st.Owes()
	for _, p := range d.st.Stages[i].People {
		is := Person{Name: d.Person(p.User), Via: d.Via(p.Via)}
		is.Owes = out.Present && slices.ContainsFunc(owes, func(o circulation.Person) bool { return o == p })
		is.Stamped = slices.ContainsFunc(d.st.Stages[i].Stamps, func(a *circulation.Act) bool {
			return a.Principal.User == p.User
		})
		out.People = append(out.People, is)
	}
}
