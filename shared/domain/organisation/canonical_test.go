package organisation_test

import (
	"bytes"
	"encoding/csv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// The hash stands in rows of the table, so that no release may change it for what is stored.
func TestTheHashOfAnOrganisationStays(t *testing.T) {
	expect.Is(t, twelve(t).SHA256(), "f9ee055bfc9fc0eb6ab19a2a487633c36876ef63b618e70a3fcefa5ee6fccce8")
	golden := expect.Value(os.ReadFile("testdata/twelve.jsonl"))(t)
	expect.Same(t, string(golden), string(twelve(t).Canonical()))
	o := read(t, file("1,Ann <a> & b,b@x.example;a@x.example,B,,,,,,,employee,,"))
	expect.Is(t, string(o.Canonical()), `{"department":{"code":"B"}}
{"person":{"number":"1","name":"Ann <a> & b","mails":["a@x.example","b@x.example"],"kind":"employee"}}
{"post":{"number":"1","department":"B","main":true}}
`)
}

// Rows in another order, and a period that is split into several rows, make the same organisation.
func TestTheHashFollowsFromWhatRowsSay(t *testing.T) {
	rows := company(300, seeded())
	want := read(t, written(rows))
	random := rand.New(rand.NewPCG(3, 4))
	var split [][]string
	for _, r := range rows {
		if r[11] == "" && random.IntN(3) == 0 {
			until, from := slices.Clone(r), slices.Clone(r)
			until[12], from[11] = lastDay, firstDay
			split = append(split, until, from)
			continue
		}
		split = append(split, r)
	}
	for range 5 {
		random.Shuffle(len(split), func(i, j int) { split[i], split[j] = split[j], split[i] })
		expect.Is(t, read(t, written(split)).SHA256(), want.SHA256())
	}
}

func TestAnOrganisationIsReadFromItsBatches(t *testing.T) {
	for _, people := range []int{1, 300, 3000} {
		o := read(t, written(company(people, seeded())))
		batches, size := o.Batches(), 0
		for i, b := range batches {
			expect.That(t, len(b.Rows) <= organisation.MaxBatch && strings.HasSuffix(b.Rows, "\n"), "part %d has %d bytes", i+1,
				len(b.Rows))
			expect.That(t, b.Part == i+1 && b.Parts == len(batches), "part %d is %d of %d", i+1, b.Part, b.Parts)
			size += len(b.Rows)
		}
		expect.Is(t, size, len(o.Canonical()))
		expect.Is(t, len(batches) == 1, people < 3000)
		slices.Reverse(batches)
		again := expect.Value(organisation.Assemble(batches))(t)
		expect.Is(t, again.SHA256(), o.SHA256())
		expect.Is(t, asShown(again.Chart(day(firstDay))), asShown(o.Chart(day(firstDay))))
	}
	expect.Is(t, encoded(t, organisation.Batch{Part: 1, Parts: 2, Rows: "{}\n"}), `{"part":1,"parts":2,"rows":"{}\n"}`)
}

func TestBatchesThatAreNotComplete(t *testing.T) {
	all := read(t, written(company(5000, seeded()))).Batches()
	expect.Must(t, len(all) >= 3, "only %d batches", len(all))
	for name, some := range map[string][]organisation.Batch{
		"none": nil, "the first alone": all[:1], "without the last": all[:len(all)-1], "without the first": all[1:],
		"one twice": slices.Concat(all, all[:1]), "one in place of another": slices.Concat(all[:1], all[:1], all[2:]),
	} {
		_, err := organisation.Assemble(some)
		expect.Fails(t, err, organisation.ErrIncomplete, "%s", name)
	}
}

// Only the very bytes that Canonical writes are read, so that one organisation has one hash.
func TestWhatIsNotCanonicalIsNotRead(t *testing.T) {
	const ann = `{"person":{"number":"1","name":"Ann","kind":"employee"}}` + "\n"
	for name, text := range map[string]string{
		"an unknown member":        `{"person":{"number":"1","name":"Ann","kind":"employee","heir":"2"}}` + "\n",
		"an unknown record":        `{"secretary":{}}` + "\n",
		"another order":            strings.Replace(ann, "1", "2", 1) + ann,
		"another order of members": `{"person":{"name":"Ann","number":"1","kind":"employee"}}` + "\n",
		"a line without end":       strings.TrimSpace(ann),
		"an empty line":            ann + "\n",
		"two records on a line":    strings.TrimSpace(ann) + ann,
		"two members":              `{"position":{"name":"a"},"department":{"code":"b"}}` + "\n",
		"an empty record":          "{}\n",
		"a day that is none":       `{"department":{"code":"A","valid_from":"2026-02-30"}}` + "\n",
		"what is no JSON":          "x\n",
	} {
		_, err := organisation.Decode([]byte(text))
		expect.That(t, err != nil, "%s is read", name)
	}
	o := expect.Value(organisation.Decode([]byte(ann)))(t)
	expect.Is(t, string(o.Canonical()), ann)
}

// asFile writes rows as a file.
func asFile(t *testing.T, rows [][]string) string {
	t.Helper()
	var b bytes.Buffer
	expect.NoError(t, csv.NewWriter(&b).WriteAll(rows))
	return b.String()
}

func TestWhatIsWrittenIsReadAsTheSameOrganisation(t *testing.T) {
	for name, o := range map[string]*organisation.Organisation{
		"twelve": twelve(t), "300": read(t, written(company(300, seeded()))), "1": read(t, written(company(1, seeded()))),
		"departments without posts, and with some later": read(t, file(top, ",,,X,Room,A,,,,,,2027-01-01,",
			"2,Bob,b@x.example,X,,A,,,,1,contractor,2028-01-01,2028-12-31", ",,,Y,,X,,,,,,2028-01-01,")),
		"what changes on other days than posts": read(t, file(top, "2,Bob,,B,Old,A,aide,5,,1,employee,,2027-03-31",
			"2,Rob,,B,New,A,aide,5,,,employee,2027-04-01,", "3,Eve,,B,,A,,,,,employee,,")),
	} {
		for _, locale := range language.All {
			text := asFile(t, o.Rows(locale))
			expect.Is(t, read(t, text).SHA256(), o.SHA256(), "%s, %s:\n%.2000s", name, locale, text)
		}
	}
}

// Whoever downloads what they uploaded finds their own rows.
func TestAFileIsWrittenAsPeopleWriteIt(t *testing.T) {
	uploaded := string(expect.Value(os.ReadFile("testdata/twelve.csv"))(t))
	want := strings.Replace(uploaded, "valid_from,valid_to", "適用開始日,適用終了日", 1)
	expect.Same(t, want, asFile(t, twelve(t).Rows("ja")))
	expect.Is(t, strings.Join(organisation.Header(language.English), ","), strings.TrimSpace(header))
}

func TestDaysAsPeopleAndSpreadsheetsWriteThem(t *testing.T) {
	for _, s := range []string{"2026-04-01", "2026/04/01", "2026/4/1", "2026-4-1", "20260401"} {
		expect.Is(t, day(s).String(), "2026-04-01", "%s", s)
	}
	for _, s := range []string{"", "2026-02-29", "2026-13-01", "2026-04", "04/01/2026", "260401", "2026-04-01T00:00:00Z",
		"1899-12-31", "3000-01-01", "46113", "令和8年4月1日"} {
		_, err := organisation.ParseDate(s)
		expect.That(t, err != nil, "%q is a day", s)
	}
	for _, s := range []string{"1900-01-01", "2028-02-29", "2999-12-31"} {
		expect.Is(t, day(s).String(), s)
	}
	expect.Is(t, day(firstDay)-day(lastDay), 1)
	expect.Is(t, organisation.Date(0).String(), "")
	expect.Is(t, organisation.Date(1).String(), "0001-01-01")
}

// At 15:00 UTC the next day begins in Japan.
func TestADayIsThatOfTheTimesZone(t *testing.T) {
	japan := time.FixedZone("JST", 9*60*60)
	before := time.Date(2027, 3, 31, 14, 59, 59, 999, time.UTC)
	expect.Is(t, organisation.DateOf(before.In(japan)).String(), lastDay)
	expect.Is(t, organisation.DateOf(before.Add(time.Second).In(japan)).String(), firstDay)
	expect.Is(t, organisation.DateOf(before.Add(time.Second)).String(), lastDay)
}

func TestTheNextChange(t *testing.T) {
	o := twelve(t)
	for after, want := range map[string]string{
		"1900-01-01": firstDay, "2027-03-30": firstDay, lastDay: firstDay, firstDay: "2027-10-01", "2027-09-30": "2027-10-01",
	} {
		got, ok := o.NextChange(day(after))
		expect.That(t, ok && got == day(want), "after %s: %s, %v", after, got, ok)
	}
	_, ok := o.NextChange(day("2027-10-01"))
	expect.That(t, !ok, "something changes after the last change")
}
