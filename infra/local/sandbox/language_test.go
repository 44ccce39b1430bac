package sandbox_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// setting is the workspace's language of cards.
type setting struct {
	mu       sync.Mutex
	language string
	saved    int
	err      error
}

func (s *setting) Language(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.language, nil
}

func (s *setting) SetLanguage(_ context.Context, language string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.language, s.saved = language, s.saved+1
	return nil
}

func speaking(s *setting, firstPage bool) func(*sandbox.Options) {
	return func(o *sandbox.Options) { o.Cards, o.FirstPage = s, firstPage }
}

// speaks tells the sandbox a page's language, and returns the language of cards.
func (w *world) speaks(t *testing.T, user, language string) any {
	t.Helper()
	status, answer := w.send(t, http.MethodPut, "language", "application/json", `{"user":"`+user+`","language":"`+language+`"}`)
	expect.Must(t, status == 200, "%d %v", status, answer)
	return answer["cards"]
}

// Slack tells apps a person's locale (docs.slack.dev, reference/methods/users.info); here it is their page's language.
func TestAPersonSpeaksTheirPagesLanguage(t *testing.T) {
	w := newWorld(t)
	for language, locale := range map[string]string{"en": "en-US", "ja": "ja-JP"} {
		w.speaks(t, webapi.Sato, language)
		u := expect.Value(w.slack.GetUserInfo(webapi.Sato))(t)
		expect.Is(t, u.Locale, locale, "the locale of somebody whose page is in %s", language)
	}
	for body, want := range map[string]int{
		`{"user":"` + webapi.Sato + `","language":"fr"}`: 422, `{"user":"U0NOBODY","language":"en"}`: 409, `[`: 400,
	} {
		status, answer := w.send(t, http.MethodPut, "language", "application/json", body)
		fields, _ := answer["fields"].(map[string]any)
		expect.That(t, status == want && (want != 422 || fields["language"] == `one of en, ja, not "fr"`),
			"%s: %d %v", body, status, answer)
	}
	status, _ := w.send(t, http.MethodPut, "cards", "application/json", `{"language":"en"}`)
	expect.Is(t, status, 404, "without a setting")
}

func TestTheFirstPageDecidesTheLanguageOfCards(t *testing.T) {
	s := &setting{language: "ja", err: errors.New("throttled")}
	w := newWorld(t, speaking(s, true))
	status, _ := w.send(t, http.MethodPut, "language", "application/json", `{"user":"`+webapi.Sato+`","language":"en"}`)
	expect.That(t, status == 500 && s.saved == 0, "%d", status) // the page tries again
	s.err = nil
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { w.speaks(t, webapi.Sato, "en") })
	}
	all.Wait()
	cards := w.speaks(t, webapi.Suzuki, "ja")
	expect.That(t, cards == "en" && s.saved == 1, "%v after %d times", cards, s.saved)
	status, _ = w.send(t, http.MethodPut, "cards", "application/json", `{"language":"ja"}`)
	expect.That(t, status == 200 && w.speaks(t, webapi.Sato, "en") == "ja", "the gear changes nothing: %d", status)
	status, answer := w.send(t, http.MethodPut, "cards", "application/json", `{"language":"de"}`)
	expect.That(t, status == 422 && s.language == "ja", "%d %v", status, answer)

	other := &setting{language: "ja"}
	w = newWorld(t, speaking(other, false)) // it was decided at the start
	cards = w.speaks(t, webapi.Sato, "en")
	expect.That(t, cards == "ja" && other.saved == 0, "%v after %d times", cards, other.saved)
}

// A newcomer's browser decides, another window follows the gear, and the page says when cards keep their language.
func TestTheLanguageOfCardsInTheBrowser(t *testing.T) {
	s := &setting{language: "ja"}
	w := newWorld(t, speaking(s, true))
	p := browser.Open(t, w.url, 1280, 800)
	p.Until(`document.documentElement.lang === "ja" && document.querySelector("#composer-main")`)
	expect.Eventually(t, "the browser decides", func() bool { return s.saved == 1 && s.language == "ja" })
	p.Press(`[data-focus="lang-en"]`)
	p.Until(`document.querySelector(".toast")?.innerText.includes("Cards stay in")`)
	p.Press("#open-settings")
	p.Until(`document.querySelector('#cards-language [lang="ja"]').getAttribute("aria-pressed") === "true"`)
	p.Accessible(t)
	picture(p, "gear-language")
	p.Press(`#cards-language [lang="en"]`)
	p.Until(`document.querySelector('#cards-language [lang="en"]').getAttribute("aria-pressed") === "true"`)
	expect.That(t, s.language == "en" && s.saved == 2, "%+v", s.language)
}
