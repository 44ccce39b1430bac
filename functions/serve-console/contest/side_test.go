package contest

import (
	"testing"

	"ringi/shared/runtime/expect"
)

// What is folded in one of two drafts is folded in the other: a line that stands open in one only looks like a
// difference.
func TestDraftsFoldTheSameLines(t *testing.T) {
	a := side{draftView: &draftView{Text: "head\none\ntwo\nthree\nask first\nleft"}}
	b := side{draftView: &draftView{Text: "one\ntwo\nthree\nright\nask first\nhead"}}
	a.beside(b.Text)
	b.beside(a.Text)
	for _, x := range []side{a, b} {
		folded := ""
		for _, part := range x.Parts {
			for _, line := range part.Lines {
				if part.Folds {
					folded += line.Text + " "
				}
			}
		}
		expect.Same(t, folded, "one two three ")
	}
}

// 0.03 points of 100 apart, two bars are equally high; a bar of 10 points less is the lowest.
func TestBarsOfNearlyEqualScoresLookNearlyEqual(t *testing.T) {
	tall := func(scores ...float64) (out []int) {
		var all []bar
		for _, score := range scores {
			all = append(all, barOf(score))
		}
		scaled([][]bar{all}, func(row []bar) []bar { return row })
		for _, b := range all {
			out = append(out, b.Tall)
		}
		return out
	}
	expect.Same(t, tall(.6837, .6834), []int{barMost, barMost})
	expect.Same(t, tall(.9, .8, .85), []int{barMost, barLeast, 11})
	expect.Same(t, tall(0), []int{barMost})
}
