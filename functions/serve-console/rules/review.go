package rules

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/explain"
	"ringi/shared/words/legible"
)

// reviewData is the look at a draft before it is saved.
type reviewData struct {
	Draft, Seen string
	Ends        bool // the rules end
	First       bool // none were saved
	Silent      bool // Slack can't say who people are
	Unread      bool // or the organisation can't
	Edited      bool
	Changes     []change
	Before      bool // something of it stood before
	Findings    []string
}

// change is a difference between two versions of the rules.
type change struct {
	Kind, Label string
	Was, Is     side
}

// side is what something was or is: at a glance, where it has stages, and in full.
type side struct {
	For, Says string
	Chips     []chip
}

// Alike reports whether both sides are the same at a glance: then what changed is only seen in full.
func (c change) Alike() bool { return c.Was.For == c.Is.For && slices.Equal(c.Was.Chips, c.Is.Chips) }

// changed returns a change from one side to the other, with the chips marked that the other one doesn't have.
func changed(label string, was, is side) change {
	mark := func(all, others []chip, class string) (out []chip) {
		for _, x := range all {
			if !slices.Contains(others, x) {
				x.Class = class
			}
			out = append(out, x)
		}
		return out
	}
	before, after := mark(was.Chips, is.Chips, "no"), mark(is.Chips, was.Chips, "done")
	was.Chips, is.Chips = before, after
	return change{"changed", label, was, is}
}

// review shows what saving the draft would change, and what should be known about it. What can't be saved goes back to
// the list. edited: the draft isn't the one that was looked at.
func (a *asked) review(edited bool) error {
	now, err := a.saved()
	if err != nil {
		return err
	}
	x := a.draft.Rules
	if now.Rev != a.draft.Rev {
		return a.conflicting(now)
	}
	d := reviewData{Draft: packed(a.draft), Seen: seen(a.draft), Ends: x == nil, First: now.Rules == nil,
		Edited: edited, Changes: a.changes(now.Rules, x)}
	d.Before = slices.ContainsFunc(d.Changes, func(c change) bool { return c.Was.Says != "" })
	if x != nil {
		if wrong := a.problems(x, x.Problems(knownOf(a.tools))); len(wrong) > 0 {
			return a.list(listState{problems: wrong, status: http.StatusUnprocessableEntity})
		}
		found, err := a.found(x)
		d.Findings = a.findings(x, found)
		if errors.Is(err, explain.ErrUnverified) {
			slog.WarnContext(a.r.Context(), "people of rules are not checked", "err", err)
			d.Silent, d.Unread, d.Findings, err = true, a.unread, nil, nil
		}
		if err != nil {
			return err
		}
	}
	return a.show("rules/check", a.Say("check"), d, web.Came{Silent: d.Silent}.Status())
}

// seen is the hash of a draft that a look was about.
func seen(d draft) string { return aggregate.HashOf(packed(d)) }

// found returns what should be known about rules. It returns explain.ErrUnverified if Slack or the organisation
// can't say who somebody is.
func (a *asked) found(x *rules.Rules) (all []rules.Finding, err error) {
	if a.members == nil {
		return nil, fmt.Errorf("%w: the workspace's people are not listed", explain.ErrUnverified)
	}
	err = a.looked(func(d *decide.Directory) error {
		all = x.Findings(d)
		return nil
	})
	return all, err
}

func (a *asked) save() error {
	if a.r.PostForm.Get("seen") != seen(a.draft) {
		return a.review(true)
	}
	if a.draft.Rules != nil {
		_, err := a.found(a.draft.Rules)
		if errors.Is(err, explain.ErrUnverified) {
			return a.review(false)
		}
		if err != nil {
			return err
		}
	}
	_, _, err := a.Store.SaveRules(a.r.Context(), a.v.Tenant, a.draft.Rules, a.draft.Rev, knownOf(a.tools),
		a.v.Actor(), a.Now())
	switch {
	case errors.Is(err, aggregate.ErrConflict):
		now, err := a.saved()
		if err != nil {
			return err
		}
		if now.Rev != a.draft.Rev {
			return a.conflicting(now)
		}
		return a.review(false) // the settings moved, not the rules
	case errors.As(err, new(aggregate.Problem)):
		return a.review(false)
	case err != nil:
		return err
	}
	return a.Done(a.w, a.r, "/console/rules", "saved")
}

// side says what a rule is.
func (s speaker) side(x *rules.Rules, i int) side {
	r := &x.Rules[i]
	group, first, more := s.asking(r)
	return side{strings.Join(append([]string{group, first}, more...), " · "), s.rule(r), s.chips(&r.Outcome)}
}

// changes says what becomes of the rules.
func (a *asked) changes(was, is *rules.Rules) (all []change) {
	says := a.speaker
	says.whole = true
	none := rules.Rules{}
	if was == nil {
		was = &none
	}
	ended := is == nil
	if ended {
		is = &none
	}
	at := func(list []rules.Rule, id string) int {
		return slices.IndexFunc(list, func(r rules.Rule) bool { return r.ID == id })
	}
	for i := range is.Rules {
		r := &is.Rules[i]
		j := at(was.Rules, r.ID)
		switch {
		case j < 0:
			all = append(all, change{Kind: "added", Label: a.numbered(i, r), Is: says.side(is, i)})
		case !same(was.Rules[j], *r):
			before, after := says.side(was, j), says.side(is, i)
			if before.Says == after.Says { // it is called otherwise
				before, after = side{Says: legible.OneLine(was.Rules[j].Name)}, side{Says: legible.OneLine(r.Name)}
			}
			all = append(all, changed(a.numbered(i, r), before, after))
		}
	}
	for i := range was.Rules {
		if r := &was.Rules[i]; at(is.Rules, r.ID) < 0 {
			all = append(all, change{Kind: "removed", Label: a.Say("quoted", "text", legible.OneLine(r.Name)),
				Was: says.side(was, i)}) // another has its number now
		}
	}
	if before, after := order(was, is, is), order(is, was, is); !slices.Equal(before, after) {
		all = append(all, change{"moved", a.Say("order"), side{Says: strings.Join(before, " → ")},
			side{Says: strings.Join(after, " → ")}})
	}
	if ended || was == &none {
		return all
	}
	for _, at := range []string{reads, writes} {
		if before, after := lastOf(was, at), lastOf(is, at); !same(*before, *after) {
			all = append(all, changed(a.In("last", at), side{Says: says.lastOutcome(at, before)},
				side{Says: says.lastOutcome(at, after)}))
		}
	}
	return all
}

// order returns the names of the rules that both have, as they are called in one of the two.
func order(x, other, called *rules.Rules) (names []string) {
	for _, r := range x.Rules {
		named := func(o rules.Rule) bool { return o.ID == r.ID }
		if i := slices.IndexFunc(called.Rules, named); i >= 0 && slices.ContainsFunc(other.Rules, named) {
			names = append(names, legible.OneLine(called.Rules[i].Name))
		}
	}
	return names
}

// findings says what should be known about rules.
func (s speaker) findings(x *rules.Rules, all []rules.Finding) []string {
	return web.Each(all, func(f rules.Finding) string { return s.finding(x, f) })
}

func (s speaker) finding(x *rules.Rules, f rules.Finding) string {
	kind := string(f.Kind)
	if f.Kind == rules.FindingUnknown && f.Stage == 0 {
		kind += "_condition"
	}
	return s.In("findings", kind, "rule", s.ruleNamed(x, f.Rule), "by", s.ruleNamed(x, f.By),
		"stage", number(f.Stage-1), "who", legible.OneLine(f.Who))
}
