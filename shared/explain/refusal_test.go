package explain

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
	"ringi/shared/words/language/languagetest"
)

// page is a surface other than Slack.
type page struct{}

func (page) Person(id string) string     { return "[" + id + "]" }
func (page) Group(id string) string      { return "[group " + id + "]" }
func (page) Channel(id string) string    { return "[in " + id + "]" }
func (page) Time(t time.Time) string     { return t.Format(time.DateOnly) }
func (page) Text(s string, _ int) string { return s }

// Texts for pages contain no Slack markup.
func TestAnySurfaceSaysIt(t *testing.T) {
	en := Surface{"en", page{}}
	at := time.Date(2026, 4, 18, 0, 0, 0, 0, time.UTC)
	request := aggregate.Origin{User: "U1", Channel: "C1", ChannelType: "channel"}
	listed := tenancy.Settings{Approvers: tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"U2"}, Usergroups: []string{"S1"}}, AllowSelfApproval: true}
	for got, want := range map[string]string{
		en.Note(fmt.Errorf("approve: %w", aggregate.ErrDecided{Status: "approved", By: "U1", At: at})): "[U1] already approved this (2026-04-18).",
		en.Note(aggregate.ErrFull{Count: aggregate.Count{Reason: task.ReasonOpenTenant, Most: 50}}):    "(limit 50)",
		en.Note(task.StopError{Reason: task.ReasonToolChanged, Detail: "book"}):                        "(book)",
		en.Note(aggregate.ErrField{Field: "slug", Limit: "must be short"}):                             "slug must be short",
		en.Note(errors.New("boom")): "Couldn't save.",
		en.Refused(aggregate.ErrNotAllowed{Rule: aggregate.RuleNotMember}, tenancy.Settings{}, request):                                                        "\n👥 Can approve or reject: members of [in C1] (not [U1]: nobody",
		en.Refused(aggregate.ErrNotAllowed{Rule: aggregate.RuleNotMember}, tenancy.Settings{}, aggregate.Origin{User: "U1", Channel: "D1", ChannelType: "im"}): "only the requester",
		en.Refused(aggregate.ErrNotAllowed{Rule: aggregate.RuleNotParty}, listed, request):                                                                     "\n👥 Can do this: [U1] / [U2], [group S1]",
		en.CancelledBefore("U1", at):                      "[U1] cancelled this task (2026-04-18).",
		Surface{"fr", page{}}.Note(aggregate.ErrNotFound): "対象が見つかりません",
	} {
		expect.Has(t, got, want, "want it to contain")
	}
	// Slack may call the channel otherwise by now, which only its card tells.
	outside := en.Refused(aggregate.ErrNotAllowed{Rule: aggregate.RuleNotMember}, tenancy.Settings{}, request)
	expect.Has(t, outside, "press the button on the card in the channel")
}

// If only the askers could approve, and they may not, no line refers to another approver.
func TestNobodyIsSentToAnApproverWhoIsNotThere(t *testing.T) {
	refused := aggregate.ErrNotAllowed{Rule: aggregate.RuleSelf}
	list := func(users, groups []string) tenancy.Settings {
		return tenancy.Settings{Approvers: tenancy.Approvers{Mode: aggregate.ApproversList, Users: users, Usergroups: groups}}
	}
	request, direct := aggregate.Origin{User: "U1", Channel: "C1", ChannelType: "channel"}, aggregate.Origin{User: "U1", Channel: "D1", ChannelType: "im"}
	for _, x := range []struct {
		name   string
		set    tenancy.Settings
		o      aggregate.Origin
		askers []string
		nobody bool
	}{
		{"a direct message", tenancy.Settings{}, direct, nil, true},
		{"the only one on the list", list([]string{"U1"}, nil), request, nil, true},
		{"all on the list asked for it", list([]string{"U1", "U2"}, nil), request, []string{"U2", "U1"}, true},
		{"a direct message that somebody else asked in", tenancy.Settings{}, direct, []string{"U2"}, false},
		{"another on the list", list([]string{"U1", "U2"}, nil), request, nil, false},
		{"a user group", list([]string{"U1"}, []string{"S1"}), request, nil, false},
		{"a channel", tenancy.Settings{}, request, nil, false},
		{"their own are theirs", tenancy.Settings{AllowSelfApproval: true}, direct, nil, false},
	} {
		for locale, words := range map[string][2]string{"ja": {"承認できる人: 今の設定では、いません", "ほかの承認者に依頼"}, "en": {"Can approve: nobody (", "Ask another approver"}} {
			s := Surface{locale, page{}}
			who, click := s.WhoDecides(x.set, x.o, x.askers...), s.Refused(refused, x.set, x.o, x.askers...)
			if strings.Contains(who, words[0]) != x.nobody || !strings.Contains(click, who) || strings.Contains(click, words[1]) == x.nobody {
				t.Errorf("%s, %s: %q, at the click %q", x.name, locale, who, click)
			}
		}
	}
}

// A list has room for names only: those of others than the askers, if they may not approve their own request.
func TestDecidersAreNamedInAFewWords(t *testing.T) {
	request := aggregate.Origin{User: "U1", Channel: "C1", ChannelType: "channel"}
	list := tenancy.Settings{Approvers: tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"U1", "U2"}}}
	own := list
	own.AllowSelfApproval = true
	s := Surface{"en", page{}}
	expect.Is(t, s.Deciders(list, request), "[U2]")
	expect.Is(t, s.Deciders(own, request), "[U1], [U2]")
	expect.Is(t, s.Deciders(list, request, "U3"), "[U1], [U2]")
	expect.Is(t, s.Deciders(list, request, "U1", "U2"), s.WhoDecides(list, request, "U1", "U2"))
	expect.Same(t, list.Approvers.Users, []string{"U1", "U2"})
}

// Every class has a note, so that "Couldn't save" is only said of unknown errors.
func TestEveryClassHasANote(t *testing.T) {
	of := map[Class]error{
		NotFound: aggregate.ErrNotFound, NotAllowed: aggregate.ErrNotAllowed{}, Decided: aggregate.ErrDecided{},
		NotLatest: aggregate.ErrNotLatest{}, InFlight: aggregate.ErrInFlight, Uncovered: aggregate.ErrUncovered,
		Edited:         task.ErrEdited,
		NothingToRetry: task.ErrNothingToRetry, MaxAttempts: task.ErrMaxAttempts, MaxRetries: task.ErrMaxRetries,
		Field: aggregate.ErrField{}, Full: aggregate.ErrFull{}, Stopped: task.StopError{},
		Unconfirmed: aggregate.ErrUnconfirmed, Conflict: aggregate.ErrConflict, Changed: aggregate.ErrMoved,
		Superseded: aggregate.ErrSuperseded, Unverified: ErrUnverified, MalformedForm: ErrMalformedForm,
		// clicks never return these
		BadInput: nil, ModelUnavailable: nil, Unavailable: nil, Internal: nil,
	}
	for _, class := range Classes {
		err, ok := of[class]
		expect.That(t, ok, "%s: is there a note?", class)
		for _, locale := range language.All {
			s := Surface{locale, page{}}
			if err != nil && (ClassOf(err) != class || s.Note(err) == s.Note(errors.New("boom")) || s.Note(err) == "") {
				t.Errorf("%s: %s has the note of any error", locale, class)
			}
		}
	}
}

var place = regexp.MustCompile(`\{[a-z]+\}`)

func TestBothLanguagesSayEverything(t *testing.T) {
	all := func(w *refusalWords) map[string]string {
		texts := map[string]string{
			"unsaved": w.Unsaved, "direct": w.Direct, "reason": w.Reason, "canDecide": w.CanDecide, "may": w.May, "nobody": w.Nobody, "nobodyElse": w.NobodyElse, "ownRequest": w.OwnRequest, "members": w.Members,
			"membersOfIt": w.MembersOfIt, "notRequester": w.NotRequester, "and": w.And, "andOthers": w.AndOthers, "cancelAccepted": w.CancelAccepted, "reasonNotTaken": w.ReasonNotTaken,
		}
		for k, v := range w.Notes {
			texts["note "+string(k)] = v
		}
		for k, v := range w.Rules {
			texts["rule "+string(k)] = v
		}
		for k, v := range w.Decided {
			texts["decided "+string(k)] = v
		}
		return texts
	}
	ja, en := all(refusalWordsOf.In("ja")), all(refusalWordsOf.In("en"))
	diff := cmp.Diff(slices.Sorted(maps.Keys(ja)), slices.Sorted(maps.Keys(en)))
	expect.That(t, diff == "", "texts differ (-ja +en): %s", diff)
	for name, text := range ja {
		a, b := place.FindAllString(text, -1), place.FindAllString(en[name], -1)
		slices.Sort(a)
		slices.Sort(b)
		expect.That(t, text != "" && en[name] != "" && slices.Equal(a, b), "%s: ja %q, en %q", name, text, en[name])
	}
	for _, r := range aggregate.Rules {
		expect.That(t, ja["rule "+string(r)] != "", "no sentence for %s", r)
	}
	expect.Is(t, len(refusalWordsOf.In("ja").Rules), len(aggregate.Rules), "rules, the domain")
}

func TestEachLanguageSaysWhyItRefuses(t *testing.T) {
	languagetest.Whole[refusalWords](t, texts, "texts/refused")
}
