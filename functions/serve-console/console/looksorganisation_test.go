package console_test

import (
	"fmt"
	"net/url"
	"strings"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// organised has a company of forty people stand, and returns the pages on it: what stands, a file with mistakes, one
// that changes much, the same again, somebody on a day, and the question before it is removed.
func organised(w *consoletest.World) []look {
	var b strings.Builder
	b.WriteString(strings.Join(organisation.Header(language.All[0]), ",") + "\n")
	for i, u := range w.Slack.Users() {
		switch {
		case u.ID == webapi.Suzuki:
			fmt.Fprintf(&b, "%d,%s,%s,D1,みどり製作所ホールディングス株式会社,,代表取締役社長,1,,,社員,,\n", i+1, u.Name, u.Email)
		case !u.Bot && !u.Stranger:
			fmt.Fprintf(&b, "%d,%s,%s,D2,人事部,D1,課長,3,,,社員,,\n", i+1, u.Name, u.Email)
		}
	}
	for i := range 35 {
		fmt.Fprintf(&b, "%d,社員 %d,shain.%d@example.com,E%d,第 %d 営業部東日本法人課,D2,,,,%d,社員,,\n", 100+i, i, i, i%4, i%4, 2)
	}
	file := b.String()
	o := expect.Value(organisation.Read([]byte(file)))(w.T)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}
	expect.NoError(w.T, w.Console.Organisations.Save(w.T.Context(), w.Tenant.ID, 0, o, o.Match(nil, 1).Kept(), by,
		w.Now()))
	changed := strings.NewReplacer("社員 1,", "社員 いち,", "代表取締役社長", "取締役会長", "134,社員 34,shain.34@example.com,E2",
		"135,新入 社員,shinnyu@example.com,F1").
		Replace(file) + "200,来年 入る,rainen@example.com,E1,,D2,,,,,社員,2099-04-01,\n"
	wrong := file + "201,山本 明,yamamoto,Z,,Q,,x,,9,パート,2026-13-01,\n101,山本 明,,E1,,,,,兼務,,,,\n"
	show := url.Values{"act": {"show"}}
	const page = "/console/organisation"
	return []look{
		{name: "organisation", path: page}, {name: "organisation-removed", path: page + "/remove"},
		{name: "organisation-wrong", path: page, form: show, file: []byte(wrong)},
		{name: "organisation-changes", path: page, form: show, file: []byte(changed)},
		{name: "organisation-same", path: page, form: show, file: []byte(file)},
		{name: "organisation-person", path: page + "/people?q=" + url.QueryEscape("社員 20")},
		{name: "organisation-people", path: page + "/people?q=" + url.QueryEscape("社員")},
	}
}
