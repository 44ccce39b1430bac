package settings_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// TestDraftContest is about the files of contests, which are checked before they are relied on.
func TestDraftContest(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"files that can be played are saved":                       testPlayableFiles,
		"a mistake is told with its file, field and bound":         testUnplayableFiles,
		"what can't be checked loses nothing that was typed":       testUncheckedFiles,
		"a file that broke later prevents no other setting":        testFilesThatBrokeLater,
		"what has no effect is listed whenever one looks":          testWarnedFiles,
		"a deployment without files of contests has no contests":   testNoFiles,
		"a contest that is switched off is saved with any file":    testContestsOff,
		"a file of settings is refused for the contest's mistakes": testImportedContest,
	})
}

// mistake is what the page shows, escaped, of what consoletest.Beginner finds.
const mistake = "configs/old.toml: max_rounds: must be 1 to 10, got &lt;b&gt;99&lt;/b&gt;"

// drafting opens the settings with a stand-in for the function that reads files.
func drafting(w *consoletest.World) *consoletest.Beginner {
	b := &consoletest.Beginner{W: w}
	w.Console.Begin = b
	return b
}

func switchedOn(w *consoletest.World, file string) url.Values {
	return opened(w, "draft_contest.enabled", "true", "draft_contest.file", file)
}

func testPlayableFiles(t *testing.T, w *consoletest.World) {
	b := drafting(w)
	form := prices(w, "draft_contest.enabled", "true", "draft_contest.file", "configs/contest.toml")
	w.As(webapi.Suzuki).Post("/console/settings", form).Leads(t, "/console/settings?done=saved")
	expect.That(t, w.SettingsNow().DraftContest.Enabled, "not saved")
	expect.Same(t, w.SettingsNow().Prices, b.Checked.Prices) // which were saved with it
	expect.That(t, len(b.Checked.Prices) == 1 && b.Checked.MaxRounds == w.SettingsNow().DraftContest.MaxRounds, "%+v", b.Checked)
}

const (
	warning  = "configs/agents/x.toml: teams[0].members[0].capabilities: has no effect, got &lt;b&gt;x&lt;/b&gt;"
	shownJa  = "コンテストのファイル configs/contest.toml は使えますが、次の設定は無効です。"
	shownEn  = "The contest file configs/contest.toml works, but these settings in it have no effect:"
	brokenJa = "コンテストのファイル configs/old.toml を修正してください。"
	brokenEn = "Fix the contest file configs/old.toml."
)

func testWarnedFiles(t *testing.T, w *consoletest.World) {
	b := drafting(w)
	b.More = 3
	suzuki := w.As(webapi.Suzuki)
	suzuki.Get("/console/settings").Lacks(t, "members[0]") // contests are off
	suzuki.Post("/console/settings", switchedOn(w, "configs/contest.toml")).Leads(t, "/console/settings?done=saved")
	for _, path := range []string{"/console/settings?done=saved", "/console/settings"} {
		suzuki.Get(path).Says(t, http.StatusOK, shownJa, warning, "and 3 more")
	}
	suzuki.Locale = "en"
	suzuki.Get("/console/settings").Says(t, http.StatusOK, shownEn, warning)
	expect.That(t, b.Checked.Prices == nil && b.Checked.MaxRounds == w.SettingsNow().DraftContest.MaxRounds, "%+v", b.Checked)
	b.Down = true
	suzuki.Get("/console/settings").Says(t, http.StatusOK, "Open this page again later.").Lacks(t, "members[0]")
	b.Down, b.NotSet = false, true
	suzuki.Get("/console/settings").Says(t, http.StatusOK, "Ask whoever installed Ringi to configure their location.")
	w.As(webapi.Guest).Get("/console/settings").Lacks(t, "contest.toml")
}

func testUnplayableFiles(t *testing.T, w *consoletest.World) {
	drafting(w)
	a := w.As(webapi.Suzuki).Post("/console/settings", switchedOn(w, "configs/old.toml"))
	a.Says(t, http.StatusUnprocessableEntity, mistake)
	expect.That(t, !w.SettingsNow().DraftContest.Enabled, "saved all the same")
}

func testUncheckedFiles(t *testing.T, w *consoletest.World) {
	drafting(w).Down = true
	a := w.As(webapi.Suzuki).Post("/console/settings", switchedOn(w, "configs/mine.toml"))
	a.Says(t, http.StatusServiceUnavailable, "コンテストのファイルを確認できませんでした")
	a.Holds(t, `value="configs/mine.toml"`)
	expect.That(t, !w.SettingsNow().DraftContest.Enabled, "saved all the same")
}

func testFilesThatBrokeLater(t *testing.T, w *consoletest.World) {
	s := w.SettingsNow()
	s.DraftContest.Enabled, s.DraftContest.File = true, "configs/old.toml"
	expect.Value(w.Store.SaveSettings(t.Context(), w.Tenant.ID, s, w.By, w.Now()))(t)
	drafting(w)
	w.As(webapi.Suzuki).Post("/console/settings", opened(w, "max_versions", "7")).Leads(t, "/console/settings?done=saved")
	expect.Same(t, 7, w.SettingsNow().MaxVersions)
	suzuki := w.As(webapi.Suzuki)
	suzuki.Get("/console/settings").Says(t, http.StatusOK, brokenJa, mistake, "max_concurrent_teams")
	suzuki.Locale = "en"
	suzuki.Get("/console/settings").Says(t, http.StatusOK, brokenEn, mistake)
}

func testNoFiles(t *testing.T, w *consoletest.World) {
	drafting(w).NotSet = true
	a := w.As(webapi.Suzuki).Post("/console/settings", switchedOn(w, "configs/contest.toml"))
	a.Says(t, http.StatusUnprocessableEntity, ja.Rule(tenancy.RuleNoContests))
	expect.That(t, !w.SettingsNow().DraftContest.Enabled, "saved all the same")
}

func testContestsOff(t *testing.T, w *consoletest.World) {
	drafting(w).Down = true
	w.As(webapi.Suzuki).Post("/console/settings", opened(w, "draft_contest.file", "configs/old.toml")).Leads(t,
		"/console/settings?done=saved")
}

func testImportedContest(t *testing.T, w *consoletest.World) {
	down := drafting(w)
	b := w.As(webapi.Suzuki)
	file := b.Get("/console/settings.yaml").Body
	at := strings.Index(file, "draft_contest:")
	expect.Must(t, at >= 0, "%s", file)
	file = file[:at] + strings.NewReplacer("enabled: false", "enabled: true", "configs/contest.toml", "configs/old.toml").Replace(file[at:])
	form := url.Values{"text": {file}}
	b.Post("/console/settings/import", form).Says(t, http.StatusUnprocessableEntity, mistake)
	down.Down = true
	b.Post("/console/settings/import", form).Says(t, http.StatusServiceUnavailable, "コンテストのファイルを確認できませんでした")
	expect.That(t, !w.SettingsNow().DraftContest.Enabled, "saved all the same")
}
