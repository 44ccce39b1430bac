package organisation_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
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
