package page

import (
	"bytes"
	"image/gif"
	"os"
	"testing"
	"time"

	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// The moving picture of README.md: somebody asks, an approver stamps the policy and the steps, and the work is done.
// With RINGI_FILM it is written to that file.
func TestTheFilmOfTheReadme(t *testing.T) {
	if os.Getenv("RINGI_FILM") == "" {
		expect.AtNight(t)
	}
	v := newcomer(t, browser.Window{Width: 1060, Height: 760, Scale: 0.9, Calm: true, Language: english.locale})
	film := new(browser.Film)
	v.becomes(webapi.Sato)
	v.Press("#composer-main")
	film.Take(v.Tab, time.Second)
	v.mentions()
	for _, typed := range []string{"Overtime for ", "Sales for ", "last month"} {
		v.Keys(typed)
		film.Take(v.Tab, 400*time.Millisecond)
	}
	film.Take(v.Tab, 800*time.Millisecond)
	v.sends()
	v.waits(film, "approve_prompt")
	v.filmed(film, `#sidebar [data-person="`+webapi.Suzuki+`"]`)
	v.filmed(film, v.button("approve_prompt"))
	v.waits(film, "approve_process")
	v.filmed(film, v.button("approve_process"))
	v.sees(english.done)
	v.lacks(v.button("cancel_execution"))
	film.Take(v.Tab, 3500*time.Millisecond)
	sheet := browser.Read[string](v.Tab, `document.querySelector('.card a[href*="/sheets/"]').href`)
	v.filmed(film, `.card a[href="`+sheet+`"]`)
	v.Clean()
	v.Visit(sheet)
	v.Until(`document.querySelector("table")`)
	film.Take(v.Tab, 3500*time.Millisecond)

	var out bytes.Buffer
	expect.NoError(t, film.Write(&out))
	got, seen := expect.Value(gif.DecodeAll(bytes.NewReader(out.Bytes())))(t), 0
	for _, delay := range got.Delay {
		seen += delay
	}
	expect.That(t, len(got.Image) >= 12 && seen <= 2000 && out.Len() <= 900_000, "%d pictures, %d/100 s, %d bytes",
		len(got.Image), seen, out.Len())
	if path := os.Getenv("RINGI_FILM"); path != "" {
		expect.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
	}
}

// waits films a card that waits for a decision: where it begins, and then where its buttons are.
func (v *visitor) waits(film *browser.Film, action string) {
	v.t.Helper()
	button := `document.querySelector(` + browser.Quote(v.button(action)) + `)`
	v.Until(button)
	v.Eval(button + `.closest(".card").scrollIntoView({block: "start"})`)
	film.Take(v.Tab, 1500*time.Millisecond)
	v.Eval(button + `.closest(".card").scrollIntoView({block: "end"})`)
	film.Take(v.Tab, 2*time.Second)
}

// filmed presses an element, and films the mouse pointer on it before.
func (v *visitor) filmed(film *browser.Film, selector string) {
	v.t.Helper()
	v.Points(selector)
	film.Take(v.Tab, 700*time.Millisecond)
	v.PointsAway()
	v.Press(selector)
}
