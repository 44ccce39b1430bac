package subject

import (
	"net/http"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
)

// liveHeader comes with what a page asks for by itself, and names what waits for a decision on it, if anything does.
const liveHeader = "X-Live"

// Since is what a page that stays as it was read says of what happened since then.
type Since struct {
	Decided    string // what became of what waits for a decision there
	Now        string // what waits now, or how things stand
	Path, Open string // where that is read
	Shown      bool   // it takes the place of what waits now
}

// SinceThen is for a page at this path, where something stands like that.
func SinceThen(path, stands, locale string) Since {
	words := web.TextsOf("layout", locale)
	return Since{Path: path, Open: words.Say("open_now"), Now: words.Say("stands") + ": " + stands}
}

// Became asks why what waits on the page that asks can't be decided any more; nil where it can, or nothing does.
func Became(r *http.Request, undecided func(id string) error) error {
	if id := r.Header.Get(liveHeader); aggregate.ValidID(id) {
		return undecided(id)
	}
	return nil
}

// Instead reports whether a page answers something else than what waits for a decision now: that is then offered and
// not shown, since the next click would be on something that nobody has read. refused: nothing was done; offered: it
// may be tried again; waits: something waits.
func Instead(r *http.Request, refused, offered, waits bool) bool {
	return refused && !offered || waits && r.URL.Query().Has("done")
}
