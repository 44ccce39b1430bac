package demo

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ringi/shared/domain/task"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// requests are the lines of testdata/requests.*.txt: a request, and behind “=>” what the demo plans for it, or
// “refused”. Lines that begin with # are comments.
func requests(t *testing.T, name string) (all [][2]string) {
	t.Helper()
	f := expect.Value(os.Open("testdata/requests." + name + ".txt"))(t)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		says, is, ok := strings.Cut(line, " => ")
		expect.Must(t, ok, "%s has no =>", line)
		all = append(all, [2]string{strings.TrimSpace(says), strings.TrimSpace(is)})
	}
	return all
}

// planFor goes the whole way from a message to steps, as people stamp them.
func planFor(t *testing.T, text string, enclosed ...any) (reply, policy string, steps []planned) {
	t.Helper()
	all := allowed(t)
	data := map[string]any{"message": text, "now": written, "locale": "ja", "requester": all.Requester, "tools": all.Tools,
		"server_tools": []string{listRooms, bookRoom, placeOrder},
		"more_tools":   []string{listRooms + ": x. y", bookRoom + ": x. y", placeOrder + ": x. y"}}
	for i, of := range []string{"forwarded", "files"} {
		if i < len(enclosed) {
			data[of] = enclosed[i]
		}
	}
	ask := func(purpose model.Purpose, into any) {
		b := expect.Value(json.Marshal(data))(t)
		said := expect.Value(answer(purpose, 1, "<data>"+string(b)+"</data>"))(t)
		expect.NoError(t, json.Unmarshal([]byte(said), into))
	}
	var taken struct{ Kind, Sentence string }
	var drafted struct{ Policy string }
	var plan struct{ Steps []planned }
	if ask(model.Extracting, &taken); taken.Kind != "task" {
		return taken.Sentence, "", nil
	}
	ask(model.Drafting, &drafted)
	data["policy"] = drafted.Policy
	ask(model.Planning, &plan)
	return "", drafted.Policy, plan.Steps
}

// The requests that a refusal names are understood.
func TestRequestsThatARefusalNames(t *testing.T) {
	for _, name := range language.All {
		for _, m := range regexp.MustCompile(`「(.*?)」|“(.*?)”`).FindAllStringSubmatch(spoken.In(name).Say["try"], -1) {
			reply, _, steps := planFor(t, m[1]+m[2])
			expect.That(t, len(steps) > 0, "%s: %s", m[0], reply)
		}
	}
}

// scopeOf says what steps are about: what is read of which months and departments, what is written, and who gets what.
func scopeOf(steps []planned) string {
	var reads, months, of, writes, told []string
	for _, s := range steps {
		var in struct {
			Year, Month, N               int
			Department, Sheet, Recipient string
			Text, Mode, Date, Start, End string
			Title                        string
		}
		_ = json.Unmarshal([]byte(s.ToolInput), &in) // a reference in the place of a text leaves it empty
		if s.RequiresHumanCheck {
			told = add(told, "check")
		}
		switch s.Tool {
		case "list_attendance":
			months = append(months, fmt.Sprintf("%d-%02d", in.Year, in.Month))
		case "calculate_overtime":
			if in.Mode == "validate" {
				writes = add(writes, "validate")
			}
		case "write_rows_to_google_sheet":
			writes = add(writes, "sheet")
			reads = add(reads, strings.Fields(in.Sheet)[0])
		case "send_slack_dm":
			if len(steps) == 1 || !strings.Contains(s.ToolInput, `"details":[{`) {
				told = append(told, in.Recipient+": "+in.Text)
			} else {
				told = append(told, in.Recipient)
			}
		case bookRoom:
			reads = append(reads, "room "+in.Date+" "+in.Start+"–"+in.End+" "+in.Title)
		case placeOrder:
			var o struct {
				Supplier string
				Items    []struct {
					Name      string
					Quantity  int
					UnitPrice int `json:"unit_price"`
				}
			}
			_ = json.Unmarshal([]byte(s.ToolInput), &o)
			reads = append(reads, fmt.Sprintf("order from %s: %v", o.Supplier, o.Items))
		case listRooms:
		default:
			if of = add(of, cmp.Or(in.Department, "all")); len(months) == 0 && s.Tool != "list_employees" {
				reads = add(reads, s.Tool)
			}
		}
	}
	slices.Sort(months)
	return strings.Join(slices.DeleteFunc([]string{strings.Join(reads, ","), strings.Join(slices.Compact(months), ","),
		strings.Join(of, ","), strings.Join(writes, ","), strings.Join(told, ",")},
		func(s string) bool { return s == "" }), " | ")
}

// Requests as people in an office type them are planned as they were meant, or refused by a reply in their language.
func TestRequestsOfAnOffice(t *testing.T) {
	for _, name := range []string{"ja", "en"} {
		all := requests(t, name)
		expect.That(t, len(all) >= 60, "only %d requests in %s", len(all), name)
		for _, x := range all {
			t.Run(name+" "+x[0], func(t *testing.T) {
				reply, policy, steps := planFor(t, strings.ReplaceAll(x[0], `\n`, "\n"))
				expect.Is(t, language.Detect(reply+policy, ""), name, "in the other language: %s", reply+policy)
				expect.That(t, !strings.Contains(policy, "template:") && !strings.Contains(policy, "<no value>"), "%s", policy)
				if x[1] == "refused" {
					expect.That(t, len(steps) == 0 && utf8.RuneCountInString(reply) <= task.MaxSentence,
						"plans %s, replies %q, policy\n%s", scopeOf(steps), reply, policy)
					return
				}
				got := scopeOf(steps)
				expect.That(t, got == x[1], "plans\n%s, want\n%s\nreply %q, policy\n%s", got, x[1], reply, policy)
			})
		}
	}
}

// A word that is missing in one language would otherwise be noticed only when the demo needs it.
func TestEachLanguageHasAllWords(t *testing.T) {
	expect.Whole[words](t, embedded, "words", "placeholders")
	for _, locale := range language.All {
		for _, l := range lists() {
			for form := range l.Demo.Words[locale].Forms {
				expect.That(t, spoken.In(locale).List[form] != "",
					"%s has a form %q in %s, and the demo has none of that name", l.Name, form, locale)
			}
		}
	}
}

func add(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(slices.Clip(list), s)
}
