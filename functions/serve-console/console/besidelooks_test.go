package console_test

import (
	"strings"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// besideLooks are pages of requests about which people asked, objected, or added somebody, as who is asked next sees
// them.
func besideLooks(w *consoletest.World) (all []look) {
	add := func(name string) { all = append(all, look{name: name, path: w.TaskPage()}) }
	does := func(user string, act aggregate.Act, text string, more ...string) {
		b := w.As(user)
		form := b.Get(w.TaskPage()).FormOf(w.T, act, text)
		for i := 0; i < len(more); i += 2 {
			form.Set(more[i], more[i+1])
		}
		w.Later(1)
		b.Post(w.TaskPage()+"/act", form)
	}
	w.Opened(consoletest.Desk("課長", 1, webapi.Suzuki), consoletest.Desk("部長", 1, webapi.Alex))
	does(webapi.Suzuki, aggregate.ActAsk, "見積は何社から取りましたか。\n安いほうを選ばなかった理由も教えてください。")
	does(webapi.Sato, aggregate.ActAnswer, "2 社です。"+strings.Repeat("納期が二週間早いほうを選びました。", 12))
	does(webapi.Suzuki, aggregate.ActAsk, "納期はいつですか。")
	does(webapi.Suzuki, aggregate.ActAdd, "契約書の 3 条を見てください。", "to", webapi.Tanaka, "role", "consult")
	consulted := consoletest.Desk("法務", 1, webapi.Alex)
	consulted.As, consulted.Dissent = circulation.AsConsult, circulation.ObjectionRaised
	consulted.Over = []circulation.Person{{User: webapi.Suzuki}}
	add("route-asked")
	w.Opened(consulted, consoletest.Desk("部長", 1, webapi.Tanaka))
	does(webapi.Alex, aggregate.ActDissent, "3 条の違約金が、いまのひな形より重くなっています。")
	add("route-objected")
	w.Opened(func() circulation.Stage { consulted.People[0].User = webapi.Suzuki; return consulted }(),
		consoletest.Desk("部長", 1, webapi.Tanaka))
	add("route-consulted")
	return all
}
