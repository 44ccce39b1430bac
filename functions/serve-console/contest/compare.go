package contest

import (
	"net/http"
	"slices"

	"ringi/functions/serve-console/web"
)

type comparePage struct {
	Path   string
	Filter web.Filter
	Sides  []*draftView // left and right; empty: there are fewer than two submissions
	Lines  []web.Line
	Same   bool
}

// compareDrafts shows two rounds of a contest side by side. Without a choice it shows the two best.
func (c *Pages) compareDrafts(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	a, works, err := c.contestOf(r, v)
	if err != nil {
		return err
	}
	words := contestTexts{v.Texts("contests")}
	p := comparePage{Path: contestPath(a.Contest.ExecutionID)}
	board := contestPage{}
	board.fillTeams(works, words, v.Locale)
	d := web.Document{Title: words.Say("compare"), Here: "contests"}
	if len(board.Board) < 2 {
		d.Data = p
		return c.Show(w, r, v, d, "contest-compare.html")
	}
	left, right := r.URL.Query().Get("a"), r.URL.Query().Get("b")
	if left == "" && right == "" {
		left, right = twoBest(board.Board)
	}
	for _, key := range []string{left, right} {
		x, err := c.draft(r.Context(), v, works, key)
		if err != nil {
			return err
		}
		p.Sides = append(p.Sides, x)
	}
	side := func(name, label, chosen string) web.Field {
		drafts := slices.Clone(board.Drafts)
		for i := range drafts {
			drafts[i].Chosen = drafts[i].Value == chosen
		}
		return web.Select(name, label, "", drafts)
	}
	p.Filter = web.Filter{Path: p.Path + "/compare", Class: "drafted", Submit: words.Say("show_compare"),
		Fields: []web.Field{side("a", words.Say("left"), left), side("b", words.Say("right"), right)}}
	if p.Same = p.Sides[0].Text == p.Sides[1].Text; !p.Same {
		p.Lines = web.Diff(p.Sides[0].Text, p.Sides[1].Text)
	}
	d.Data = p
	return c.Show(w, r, v, d, "contest-compare.html")
}

// twoBest returns the second and the first of the teams' best rounds; if only one team has played, of all rounds.
func twoBest(board []boardRow) (left, right string) {
	var best []boardRow
	for _, b := range board {
		if b.Best {
			best = append(best, b)
		}
	}
	if len(best) < 2 {
		best = board
	}
	return best[1].Key, best[0].Key
}
