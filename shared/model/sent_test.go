package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/runtime/expect"
)

// sender reports each request as sent, first in a form that is refused, and then answers as scripted does.
type sender struct {
	*scripted
	sending func() // called when the request is sent; may be nil
}

func (s sender) Say(ctx context.Context, r model.Request, _ func(string)) (model.Response, error) {
	model.Sent(ctx, []byte("in a form that is refused"))
	model.Sent(ctx, []byte(r.Messages[len(r.Messages)-1].Parts[0].Text))
	if s.sending != nil {
		s.sending()
	}
	return s.scripted.Say(ctx, r, nil)
}

// extract runs the first layer, and stores with keep what it sends.
func extract(ctx context.Context, t *testing.T, g model.Wire, keep model.Keep) (model.Usage, error) {
	t.Helper()
	g, err := model.Within(tenancy.Settings{}, func(string) (model.Wire, error) { return g, nil }, "demo", keep)
	expect.NoError(t, err)
	_, usage, err := model.Extract(ctx, g, model.ExtractInput{Text: "himitsu", Now: now(), Try: 1})
	return usage, err
}

// whole saves a body in the row, so that a test can read it.
func whole(_ context.Context, body []byte) (aggregate.Blob, error) {
	return aggregate.Blob{JSON: aggregate.JSON(body), Bytes: len(body)}, nil
}

func TestTheUsageNamesWhatTheLastCallWasSent(t *testing.T) {
	refused := says("")
	refused.answers[0].Stop = model.StopRefused
	for name, tt := range map[string]struct {
		g     *scripted
		want  string
		fails bool
	}{
		"an answer":               {says(goodExtract), "himitsu", false},
		"an answer and a repair":  {says("no", goodExtract), "can't be used", false},
		"an answer that is none":  {refused, "himitsu", true},
		"an answer and then none": {says("no"), "can't be used", true},
	} {
		u, err := extract(t.Context(), t, sender{scripted: tt.g}, whole)
		if u.Sent == nil || !strings.Contains(string(u.Sent.JSON), tt.want) || u.Sent.Bytes != len(u.Sent.JSON) || (err != nil) != tt.fails {
			t.Errorf("%s: %+v, %v", name, u.Sent, err)
		}
	}
}

func TestAPromptIsStoredWhileTheModelAnswers(t *testing.T) {
	begun, over := make(chan bool, 2), make(chan bool)
	ctx, giveUp := context.WithCancel(t.Context())
	g := sender{says(goodExtract), func() {
		<-begun
		<-begun
		giveUp()
		close(over)
	}}
	u, _ := extract(ctx, t, g, func(ctx context.Context, body []byte) (aggregate.Blob, error) {
		begun <- true
		<-over
		return aggregate.Blob{Bytes: len(body)}, ctx.Err()
	})
	expect.That(t, u.Sent != nil, "a call that was given up took its prompt along")
}

func TestAPromptThatCannotBeStoredFailsNothing(t *testing.T) {
	u, err := extract(t.Context(), t, sender{scripted: says(goodExtract)}, func(context.Context, []byte) (aggregate.Blob, error) {
		return aggregate.Blob{Bytes: 1}, errors.New("down")
	})
	expect.That(t, err == nil && u.Sent == nil && u.Calls == 1, "%+v, %v", u, err)
}

func TestTheDemonstrationSaysWhatItIsAsked(t *testing.T) {
	u, err := extract(t.Context(), t, demo.Layers{}, whole)
	expect.NoError(t, err)
	for _, want := range []string{`"system":"`, "himitsu", `"schema":{`} {
		expect.Has(t, string(u.Sent.JSON), want, "is not in %s", u.Sent.JSON)
	}
}
