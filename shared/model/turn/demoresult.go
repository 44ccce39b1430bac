package turn

import (
	"fmt"
	"strconv"
	"strings"

	"ringi/shared/words/lazy"
)

// What Ringi tells an agent of an action's end, in either language of the workspace.
var (
	demoEnded   = lazy.Regexp{Text: `^(?:Action #\d+ (?:(is done)|failed)|操作 #\d+ (?:が(完了)|は失敗)しました)`}
	demoExit    = lazy.Regexp{Text: `(?m)^(?:Exit code|終了コード): (-?\d+)$`}
	demoRan     = lazy.Regexp{Text: `(?m)^(?:Command|コマンド) \d+: (?:(?:exit code|終了コード) (\d+))?`}
	demoChanged = lazy.Regexp{Text: `(?:Files changed|変わったファイル): (\d+)(?: 件、|, )\+(\d+)(?: 行)? −(\d+)`}
	demoPulled  = lazy.Regexp{Text: `(?m)^(?:Draft pull request|プルリクエストの下書き): (\S+)$`}
	demoOutput  = lazy.Regexp{Text: `(?s)(?:each after its number:|行番号に続けて示します:)\n?(.*)$`}
	demoNumber  = lazy.Regexp{Text: `(?m)^ *\d+: ?`}
)

// What the programs that run tests print last.
var (
	demoNode     = lazy.Regexp{Text: `(?m)^(?:#|ℹ) (pass|fail) (\d+)$`}
	demoUnittest = lazy.Regexp{Text: `(?m)^Ran (\d+) tests? in`}
	demoBroken   = lazy.Regexp{Text: `(?m)^FAILED \((?:failures=(\d+))?(?:, )?(?:errors=(\d+))?`}
	demoPytest   = lazy.Regexp{Text: `(?m)\b(\d+) (passed|failed)\b.* in [\d.]+s`}
	demoGo       = lazy.Regexp{Text: `(?m)^\s*--- (PASS|FAIL): `}
)

// demoDid says how an action ended: the exit code, tests, changed files, or the last lines of the output. ok is false if
// it was not carried out.
func demoDid(result string, in func(ja, en string) string) (text string, ok bool) {
	m := demoEnded.Get().FindStringSubmatch(result)
	if m == nil {
		return "", false
	}
	told, output := result, ""
	if at := demoOutput.Get().FindStringSubmatchIndex(result); at != nil {
		told, output = result[:at[0]], demoNumber.Get().ReplaceAllString(result[at[2]:at[3]], "")
	}
	var facts []string
	if x := demoExit.Get().FindStringSubmatch(told); x != nil {
		facts = append(facts, in("終了コード ", "exit code ")+x[1])
	}
	if codes, n := demoCodes(told); n > 0 {
		facts = append(facts, fmt.Sprintf(in("コマンド %d 件 (終了コード %s)", "%d commands (exit codes %s)"), n, codes))
	}
	tests := demoTests(output, in)
	if tests != "" {
		facts = append(facts, tests)
	}
	if x := demoChanged.Get().FindStringSubmatch(told); x != nil {
		many := ""
		if x[1] != "1" {
			many = "s"
		}
		form := in("ファイル %[1]s 件を変更 (+%[3]s 行 −%[4]s 行)", "%s file%s changed (+%s −%s)")
		facts = append(facts, fmt.Sprintf(form, x[1], many, x[2], x[3]))
	}
	if x := demoPulled.Get().FindStringSubmatch(told); x != nil {
		facts = append(facts, in("プルリクエストの下書き ", "draft pull request ")+x[1])
	}
	text = in("失敗しました", "Failed")
	if m[1]+m[2] != "" {
		text = in("完了しました", "Done")
	}
	if len(facts) > 0 {
		text += in(": ", ": ") + strings.Join(facts, in("、", ", "))
	}
	text += in("。", ".")
	if last := lastLines(output, maxShown); last != "" && tests == "" {
		text += "\n```\n" + last + "\n```"
	}
	return text, true
}

// demoCodes lists the exit codes of several commands, a dash for one that has none.
func demoCodes(told string) (codes string, n int) {
	var all []string
	for _, m := range demoRan.Get().FindAllStringSubmatch(told, -1) {
		if m[1] == "" {
			m[1] = "–"
		}
		all = append(all, m[1])
	}
	return strings.Join(all, ", "), len(all)
}

// demoTests says how many tests passed and failed by a program's output, empty if it ran none.
func demoTests(output string, in func(ja, en string) string) string {
	count := map[string]int{}
	add := func(what, n string) {
		v, _ := strconv.Atoi(n) // of digits
		count[what] += v
	}
	found := demoNode.Get().FindAllStringSubmatch(output, -1)
	for _, m := range found {
		add(m[1], m[2])
	}
	if m := demoUnittest.Get().FindStringSubmatch(output); m != nil {
		found = append(found, m)
		add("pass", m[1])
		if b := demoBroken.Get().FindStringSubmatch(output); b != nil {
			add("fail", b[1])
			add("fail", b[2])
			count["pass"] -= count["fail"]
		}
	}
	for _, m := range demoPytest.Get().FindAllStringSubmatch(output, -1) {
		found = append(found, m)
		add(m[2][:4], m[1])
	}
	for _, m := range demoGo.Get().FindAllStringSubmatch(output, -1) {
		found = append(found, m)
		add(strings.ToLower(m[1]), "1")
	}
	if len(found) == 0 {
		return ""
	}
	many := "s"
	if count["pass"] == 1 {
		many = ""
	}
	said := fmt.Sprintf(in("テスト %d 件成功%s", "%d test%s passed"), count["pass"], in("", many))
	if count["fail"] > 0 {
		said += fmt.Sprintf(in("、%d 件失敗", ", %d failed"), count["fail"])
	}
	return said
}

// maxShown is the most lines of output that an answer repeats.
const maxShown = 8

// lastLines are the last lines of an output, without what would end a fence.
func lastLines(output string, n int) string {
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(output, "```", "` ` `"), "\n"), "\n")
	return strings.Trim(strings.Join(lines[max(0, len(lines)-n):], "\n"), "\n")
}
