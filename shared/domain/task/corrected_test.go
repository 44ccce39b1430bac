package task

import (
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

const (
	editedAt = "1776675700.000000"
	newText  = "人事部の残業をまとめて"
)

func corrects(text, at string, deleted bool, by string) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Correct(says(*a.Request, text), at, deleted, person(by), now)
	}
}

// says returns a request with another text.
func says(r Request, text string) Request {
	r.Text = text
	return r
}

func redrafts(text string, by aggregate.Actor) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.Redraft(text, by, now) }
}

func (s *story) redraft(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.Redraft(shown(a), person(requester), now)
}

// shown is what the card shows of an edit.
func shown(a *Aggregate) string {
	if a.Correction == nil {
		return ""
	}
	return a.Correction.Saying()
}

// Whoever clicks on a card that shows an earlier edit doesn't have the later one drafted unseen.
func TestOnlyWhatTheCardShowsIsDraftedAnew(t *testing.T) {
	s := waitingPrompt(t)
	s.do(corrects(newText, editedAt, false, requester))
	first := shown(s.load())
	s.do(corrects("営業部の残業をまとめて", "1776675701.000000", false, requester))
	for _, text := range []string{first, ""} {
		s.refused(redrafts(text, person(requester)), ErrEdited)
	}
	open, _ := s.load().OpenGate()
	s.do(s.redraft)
	expect.Is(t, s.load().Request.Text, "営業部の残業をまとめて")
	expect.Fails(t, s.load().Undecided(open.ID), ErrEdited)
	s.refused(redrafts(first, person(requester)), ErrEdited)
}

// While a generation is parked or a contest plays nothing is drafted anew; as soon as the draft waits for people, the
// button is there.
func TestTheButtonIsThereOnceADraftWaits(t *testing.T) {
	contest := told(begin, func(s *story) { s.do(s.extract, s.askContest, s.contestMade) })
	for name, c := range map[string]struct {
		reach func(testing.TB) *story
		then  func(s *story)
	}{
		"a policy is parked": {told(begin, func(s *story) { s.do(s.extract, s.park) }),
			func(s *story) { s.do(s.retryGeneration, s.finishPrompt) }},
		"steps are parked": {told(waitingPrompt, func(s *story) { s.do(s.approvePrompt, s.park) }),
			func(s *story) { s.do(s.retryGeneration, s.finishProcess) }},
		"a policy is drafted": {told(begin, func(s *story) { s.do(s.extract) }), func(s *story) { s.do(s.finishPrompt) }},
		"a contest plays":     {contest, func(s *story) { s.do(s.contestEnds, s.finishContest) }},
	} {
		s := c.reach(t)
		s.do(corrects(newText, editedAt, false, requester))
		a := s.load()
		expect.That(t, !a.Redraftable() && a.RedraftableOnceItWaits(), "%s: %+v", name, a.Correction)
		c.then(s)
		offer := aggregate.Offer{Act: ActRedraft, ID: a.Head.TaskID, Hash: shown(s.load())}
		expect.That(t, slices.Contains(s.load().Offers(), offer), "%s: %+v", name, s.load().Offers())
		s.do(s.redraft)
		expect.Is(t, s.load().Request.Text, newText, name)
	}
}

// An edit counts at once while nothing is drafted, waits for its author while no step may begin, and is too late then.
// The same edit, an older one, one of somebody else and one that leaves the text change nothing.
func TestAnEditCountsOrIsSaidNotTo(t *testing.T) {
	for _, state := range states {
		s := state.reach(t)
		t.Run(state.name, func(t *testing.T) {
			before := s.load()
			s.nothing(corrects(before.Request.Text, editedAt, false, requester))
			s.do(corrects(newText, editedAt, false, requester))
			a := s.load()
			late, unread := before.Head.Ended != nil || before.Execution() != nil, before.Task == nil
			switch {
			case late:
				expect.That(t, a.Corrected() != nil && a.Corrected().Late && !a.Redraftable(), "%+v", a.Correction)
			case unread:
				expect.That(t, a.Corrected() == nil && a.Request.Text == newText && a.Head.Run == before.Head.Run+1 &&
					a.Head.Parked == nil, "%q by run %d: %+v", a.Request.Text, a.Head.Run, a.Correction)
			default:
				_, waits := a.OpenGate()
				expect.That(t, a.Corrected() != nil && !a.Corrected().Late && a.Redraftable() == waits &&
					a.Request.Text == before.Request.Text, "%+v", a.Correction)
			}
			s.nothing(corrects(newText, editedAt, false, requester))
			s.nothing(corrects("以前の文", "1776675600.000000", false, requester))
			if !late && !unread {
				s.do(corrects(before.Request.Text, "1776675800.000000", false, requester))
				expect.That(t, s.load().Corrected() == nil && !s.load().Redraftable(), "the old text again is a change")
			}
		})
	}
}

// The requester has the new text drafted anew: what waits closes with its stamps, and the first layer reads again.
func TestTheNewTextIsDraftedAnew(t *testing.T) {
	for name, reach := range map[string]func(testing.TB) *story{"a policy waits": waitingPrompt,
		"steps wait": waitingProcess} {
		t.Run(name, func(t *testing.T) {
			s := reach(t)
			s.refused(s.redraft, ErrNothingToRetry)
			s.do(corrects(newText, editedAt, false, requester))
			s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.Redraft(shown(a), person(suzuki), now)
			}, aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester})
			open, _ := s.load().OpenGate()
			s.do(s.redraft)
			s.nothing(s.redraft) // a second click
			a := s.load()
			_, waits := a.OpenGate()
			expect.That(t, !waits && a.GateWith(open.ID).Status == aggregate.Cancelled && a.Request.Text == newText &&
				a.Next(s.now).State == StateExtractTask && a.Layer() == L1, "%+v", a.Next(s.now))
			expect.That(t, a.Undecided(open.ID) != nil, "the closed gate can be decided")
			s.do(s.extract)
			a = s.load()
			expect.That(t, a.Prompt().Version == 2 && a.Prompt().Status == aggregate.Generating && a.Corrected() == nil &&
				a.Newest(CardPrompt, a.Prompt().Key()) && a.Next(s.now).State == StateDraftPrompt, "%+v", a.Prompt())
			s.do(s.finishPrompt, s.approvePrompt)
			if s.load().Process().Status != aggregate.Generating { // steps were planned before
				s.do(s.beginProcess)
			}
			s.do(s.finishProcess, s.approveProcess)
			a = s.load()
			expect.That(t, a.Execution() != nil && a.Execution().ProcessVersion == a.Process().Version, "%+v", a.Execution())
			s.do(corrects("別の文", "1776675900.000000", false, requester))
			expect.That(t, s.load().Corrected().Late, "an edit after the decision counts")
		})
	}
}

// A deletion withdraws what no execution has begun, and never what one has.
func TestADeletionWithdrawsWhatWaits(t *testing.T) {
	for _, state := range states {
		s := state.reach(t)
		t.Run(state.name, func(t *testing.T) {
			before := s.load()
			s.do(corrects("", editedAt, true, requester))
			a := s.load()
			if before.Head.Ended != nil || before.Execution() != nil {
				expect.That(t, a.Corrected() != nil && a.Corrected().Late, "%+v", a.Correction)
				if before.Head.Ended != nil {
					expect.Same(t, before.Head.Ended, a.Head.Ended)
				}
			} else {
				_, waits := a.OpenGate()
				expect.That(t, a.Head.Ended != nil && a.Head.Ended.Reason == ReasonDeleted && a.Head.Ended.By == "" && !waits,
					"%+v", a.Head.Ended)
				last := s.audit[len(s.audit)-1]
				expect.That(t, last.ActorID == "" && last.ActorType == aggregate.ActorSystem,
					"Slack doesn't say who deleted it: %+v", last)
			}
			s.nothing(corrects("", editedAt, true, requester))
			s.nothing(corrects(newText, "1776675900.000000", false, requester)) // what comes late
		})
	}
}

// Slack counts edits in seconds: a second edit in one second counts, and the first, delivered again, doesn't undo it.
func TestTwoEditsWithinASecond(t *testing.T) {
	for name, reach := range map[string]func(testing.TB) *story{"nothing is drafted": begin,
		"a policy waits": waitingPrompt} {
		t.Run(name, func(t *testing.T) {
			s := reach(t)
			original := s.load().Request.Text
			s.do(corrects("営業部", editedAt, false, requester), corrects(newText, editedAt, false, requester))
			s.nothing(corrects("営業部", editedAt, false, requester))
			s.nothing(corrects(newText, editedAt, false, requester))
			expect.Is(t, s.load().Correction.Text, newText)
			s.do(corrects(original, editedAt, false, requester))
			expect.That(t, s.load().Corrected() == nil, "the first text again is a change: %+v", s.load().Correction)
		})
	}
}

// Files and forwarded messages that an edit adds are the request's with the text, and who wrote them asks.
func TestWhatAnEditEncloses(t *testing.T) {
	is := Request{Text: newText, Forwarded: []aggregate.Quoted{{User: suzuki, Text: "対象は営業だけ"}}, MoreFiles: 2,
		Files: []aggregate.SharedFile{{ID: "F2", Name: "名簿.csv"}}}
	encloses := func(of Request, at string) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			of.Text = a.Request.Text
			return a.Correct(of, at, false, person(requester), now)
		}
	}
	reads := func(id string) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.ReadFiles(a.Head.Run, []ReadFile{{SharedFile: aggregate.SharedFile{ID: id}}}, now)
		}
	}
	holds := func(a *Aggregate) {
		t.Helper()
		r := a.Request
		expect.That(t, len(r.Files) == 1 && r.Files[0].ID == "F2" && r.MoreFiles == 2 && len(r.Forwarded) == 1 &&
			slices.Contains(a.askersOfAll(), suzuki) && a.Unread() && a.Read() == nil, "%+v, asked by %v", r, a.askersOfAll())
	}
	s := begin(t)
	s.do(encloses(Request{Files: []aggregate.SharedFile{{ID: "F1"}}}, editedAt), reads("F1"))
	expect.That(t, !s.load().Unread() && s.load().Read() != nil, "%+v", s.load().Files)
	s.do(encloses(is, "1776675701.000000"))
	holds(s.load())
	s.do(reads("F2"))
	expect.Is(t, s.load().Read().Files[0].ID, "F2")

	s = waitingPrompt(t)
	s.do(encloses(is, editedAt))
	expect.That(t, s.load().Redraftable() && len(s.load().Request.Files) == 0, "%+v", s.load().Correction)
	s.do(s.redraft)
	holds(s.load())
}

// An edit that leaves nothing to draft takes the request back while nothing is drafted; later it is only said.
func TestAnEditThatLeavesNothing(t *testing.T) {
	s := begin(t)
	s.do(corrects(" ", editedAt, false, requester))
	expect.That(t, s.load().Head.Ended != nil && s.load().Head.Ended.Reason == ReasonDeleted, "%+v", s.load().Head)
	s = waitingPrompt(t)
	s.do(corrects("", editedAt, false, requester))
	a := s.load()
	expect.That(t, a.Head.Ended == nil && a.Corrected().Blank() && !a.Redraftable() && !a.RedraftableOnceItWaits(), "%+v",
		a.Correction)
}

// Somebody else made the message a request: its author's change counts only if the requester has it drafted anew.
func TestTheAuthorsChangeOfAnothersRequest(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		s := begin(t)
		s.do(corrects(newText, editedAt, deleted, suzuki))
		a := s.load()
		expect.That(t, a.Head.Ended == nil && a.Request.Text != newText && a.Corrected().Author == suzuki &&
			!a.Corrected().Late, "%+v", a.Correction)
		s.do(s.extract, s.finishPrompt)
		s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Redraft(shown(a), person(suzuki), now)
		}, aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester})
		if expect.Is(t, s.load().Redraftable(), !deleted); deleted {
			continue
		}
		s.do(s.redraft)
		expect.That(t, s.load().Request.Text == newText && slices.Contains(s.load().askersOfAll(), suzuki), "%+v",
			s.load().Request)
	}
}

// A message that was deleted before it was received makes no request, whenever it comes.
func TestAMessageThatIsGoneMakesNoRequest(t *testing.T) {
	r := Request{TeamID: "T1", Channel: "C1", User: requester, Text: newText, MessageTS: "1776675599.000100"}
	gone, ref, err := Gone("T1", r, time.Unix(1776675700, 0))
	expect.NoError(t, err)
	made, same, err := Receive("T1", r, time.Unix(1776675760, 0))
	expect.NoError(t, err)
	a := (&Aggregate{}).Apply(gone)
	expect.That(t, ref == same && len(made.Rows) > len(gone.Rows) && a.Head.Ended.Reason == ReasonDeleted &&
		len(a.Cards) == 0 && a.Request.Text == "", "%+v", a)
	_, _, err = Gone("T1", Request{MessageTS: "soon"}, time.Now())
	expect.That(t, err != nil, "a message without a time is kept")
}

// A first layer that declines the new text leaves the request as it was: what waited waits again as the next version,
// without its stamps, and the correction is not drafted. The requester may correct it again, or withdraw it.
func TestANewTextThatIsDeclined(t *testing.T) {
	decline := extracts(Extract{Kind: KindUnsupported, Sentence: "個人は除けません。"})
	ways := map[string]func(testing.TB) *story{"a policy waits": waitingPrompt, "steps wait": waitingProcess}
	for name, reach := range ways {
		t.Run(name, func(t *testing.T) {
			s := reach(t)
			before := s.load()
			was, _ := before.OpenGate()
			s.do(corrects(newText, editedAt, false, requester), s.redraft, decline)
			a := s.load()
			expect.That(t, a.Head.Ended == nil && a.Request.Text == before.Request.Text && a.Correction.Was == nil &&
				a.Corrected() != nil && a.Corrected().Declined == "個人は除けません。", "%+v, %+v", a.Head, a.Correction)
			expect.Is(t, a.Task.Title, before.Task.Title)
			if was.Kind == CardPrompt {
				expect.That(t, a.RepeatedPolicy().Content == before.Prompt().Content &&
					a.Next(s.now).State == StateDraftPrompt, "%+v", a.Prompt())
				s.do(s.finishPrompt)
			} else {
				expect.That(t, a.RepeatedSteps().hash() == before.Process().hash() && a.RepeatedPolicy() == nil &&
					a.Next(s.now).State == StatePlanProcess, "%+v", a.Process())
				s.do(s.finishProcess)
			}
			a = s.load()
			open, waits := a.OpenGate()
			expect.That(t, waits && open.Version == was.Version+1 && a.Undecided(was.ID) != nil, "%+v", open)
			row := a.gateOf(open.ID)
			expect.Is(t, a.Further(row), before.Further(before.gateOf(was.ID)), "it counts as no further version")
			expect.That(t, !a.Redraftable() && !a.RedraftableOnceItWaits(), "what was declined is drafted again")
			s.refused(s.redraft, ErrNothingToRetry)
			s.do(corrects("営業部の残業をまとめて", "1776675900.000000", false, requester))
			expect.That(t, s.load().Redraftable() && s.load().Corrected().As == "", "%+v", s.load().Correction)
			s.do(s.redraft, corrects("別の文", "1776675901.000000", false, requester), decline)
			expect.Is(t, s.load().Request.Text, before.Request.Text, "an edit while the new text is read")
			s.do(corrects("", "1776675902.000000", true, requester))
			expect.Is(t, s.load().Head.Ended.Reason, ReasonDeleted)
		})
	}
}

// What was read of the files is there again with the request.
func TestTheFilesOfARequestThatStays(t *testing.T) {
	reads := func(ids ...string) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			var files []ReadFile
			for _, id := range ids {
				files = append(files, ReadFile{SharedFile: aggregate.SharedFile{ID: id}})
			}
			return a.ReadFiles(a.Head.Run, files, now)
		}
	}
	s := begin(t)
	with := func(at string, ids ...string) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			r := says(*a.Request, newText)
			r.Files = nil
			for _, id := range ids {
				r.Files = append(r.Files, aggregate.SharedFile{ID: id})
			}
			return a.Correct(r, at, false, person(requester), now)
		}
	}
	s.do(with(editedAt, "F1"), reads("F1"), s.extract, s.finishPrompt, with("1776675800.000000", "F2", "F3"), s.redraft)
	s.do(reads("F2", "F3"))
	expect.Is(t, len(s.load().Read().Files), 2)
	s.do(extracts(Extract{Kind: KindHelp, Sentence: "できること"}))
	a := s.load()
	expect.That(t, !a.Unread() && len(a.Read().Files) == 1 && a.Read().Files[0].ID == "F1", "%+v", a.Files)
}
