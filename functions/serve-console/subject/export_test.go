package subject

import "testing"

// Look has a page of what is stuck look at only this many gates.
func Look(t *testing.T, n int) {
	pages, most := pagesLooked, ofPage
	pagesLooked, ofPage = 1, n
	t.Cleanup(func() { pagesLooked, ofPage = pages, most })
}
