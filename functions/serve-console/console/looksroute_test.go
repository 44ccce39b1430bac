package console_test

import (
	"net/url"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

// TestLooksOfSuccessors is TestLooksOfThePagesThatAdministratorsRead for successors.
func TestLooksOfSuccessors(t *testing.T) {
	db, b := storetest.Start(t), browser.Start(t)
	w, empty := consoletest.New(t, db), consoletest.New(t, db)
	ask, refused := successors(w)
	list := look{name: "successors", path: "/console/successors"}
	looks := []look{ask, refused, list, {name: "successor-link", path: w.TaskPage()}}
	for _, locale := range language.All {
		t.Run(locale, func(t *testing.T) {
			looked(t, w, b, locale, looks)
			looked(t, empty, b, locale, []look{{name: "successors-none", path: list.path}})
		})
	}
}

// successors returns the page of a successor of somebody who has left, and the page that refuses one.
func successors(w *consoletest.World) (ask, refused look) {
	const gone = "U0TAKADA"
	who := rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Alex, webapi.Suzuki, webapi.Tanaka}}
	_, rev, err := w.Store.Rules(w.T.Context(), w.Tenant.ID)
	expect.NoError(w.T, err)
	opening := pipelinetest.Along([]string{webapi.Sato}, 1, pipelinetest.Desk("部長", 1, gone))
	x := &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{{ID: opening.Rule.ID,
		Name: opening.Rule.Name, Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
			{Name: "部長", Who: who, Need: 1, Empty: rules.EmptyRefuse}}, Hands: 1}}}}}
	_, _, err = w.Store.SaveRules(w.T.Context(), w.Tenant.ID, x, rev, nil, w.By, w.Now())
	expect.NoError(w.T, err)
	w.Ask()
	p := w.PlannedOnRoute(w.SettingsNow(), opening, consoletest.Message(1, "勤怠をお送りします。")).Process()
	q := url.Values{"gate": {p.ID}, "stage": {"1"}, "for": {gone}}
	ask = look{name: "successor", path: w.TaskPage() + "/successor?" + q.Encode()}
	q.Set("asked", p.Asked)
	q.Set("to", webapi.Suzuki)
	q.Set("reason", "部長の退職のため、後任が決まるまで担当します。")
	return ask, look{name: "successor-refused", path: w.TaskPage() + "/successor", form: q}
}
