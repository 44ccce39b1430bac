package sandbox

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"ringi/infra/local/sandbox/webapi"
	"slices"
	"strings"
)

// Cards reads and sets the language of the app's cards, which is a setting of the workspace.
type Cards interface {
	Language(ctx context.Context) (string, error)
	SetLanguage(ctx context.Context, language string) error
}

// regions are what Slack's locales add to the page's languages.
var regions = map[string]string{"ja": "-JP", "en": "-US"}

// speech says in which language a person's page is, or which language cards shall have.
type speech struct {
	User     string `json:"user,omitempty"`
	Language string `json:"language"`
	Cards    string `json:"cards,omitempty"` // in the answer: the language of cards
}

// languages serves the language of people and of cards.
func (s *Sandbox) languages(mux *http.ServeMux) {
	mux.HandleFunc("PUT /sandbox/language", s.speak)
	if s.opts.Cards == nil {
		return
	}
	mux.HandleFunc("PUT /sandbox/cards", func(w http.ResponseWriter, r *http.Request) {
		if in, ok := read[speech](w, r, maxRequest, "a language"); ok {
			reply(w, in, s.setCards(r.Context(), in.Language))
		}
	})
}

// speak makes the page's language the person's in Slack. The first page also decides the language of cards, unless it
// was decided at the start.
func (s *Sandbox) speak(w http.ResponseWriter, r *http.Request) {
	in, ok := read[speech](w, r, maxRequest, "a language")
	if !ok {
		return
	}
	region, known := regions[in.Language]
	if !known {
		reply(w, nil, unspoken(in.Language))
		return
	}
	err := s.ws.Speak(in.User, in.Language+region)
	if err == nil && s.opts.Cards != nil {
		err = s.decide(r.Context(), in.Language)
	}
	if err == nil && s.opts.Cards != nil {
		in.Cards, err = s.opts.Cards.Language(r.Context())
	}
	reply(w, in, err)
}

// decide sets the language of cards for the first page. A second page waits, and finds it decided.
func (s *Sandbox) decide(ctx context.Context, language string) error {
	s.first.Lock()
	defer s.first.Unlock()
	if !s.opts.FirstPage || s.decided {
		return nil
	}
	err := s.setCards(ctx, language)
	s.decided = err == nil
	return err
}

func (s *Sandbox) setCards(ctx context.Context, language string) error {
	if _, known := regions[language]; !known {
		return unspoken(language)
	}
	if err := s.opts.Cards.SetLanguage(ctx, language); err != nil {
		return err
	}
	s.hub.publish(webapi.Change{Kind: "cards", Data: language})
	return nil
}

func unspoken(language string) error {
	all := slices.Sorted(maps.Keys(regions))
	return FieldErrors{"language": fmt.Sprintf("one of %s, not %q", strings.Join(all, ", "), language)}
}
