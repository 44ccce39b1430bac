package organisation_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

// A company of 300 people in 25 departments: everybody but the top has a manager on each day on which anything changes.
func TestACompanyOf300(t *testing.T) {
	o := read(t, written(company(300, seeded())))
	last := organisation.Date(0)
	for on, ok := o.NextChange(0); ok; on, ok = o.NextChange(on) {
		chart := o.Chart(on)
		expect.Same(t, []organisation.Gap(nil), chart.Gaps())
		expect.That(t, on > last, "%s does not come after %s", on, last)
		last = on
		for _, p := range chart.People() {
			chain := chart.ManagersAbove(p.Number)
			expect.Must(t, (len(chain) == 0) == (p.Number == number(0)) && len(chain) <= 6, "%s has %d above", p.Number,
				len(chain))
			expect.Must(t, p.Number == number(0) || chain[len(chain)-1].Number == number(0),
				"the chain of %s ends below the top", p.Number)
		}
	}
	expect.Is(t, len(o.Chart(last).People()), 300)
}

// Whatever is read never ends the program, is written as it can be read again, and leads to no endless chain. Whatever
// is refused says why, row by row.
func FuzzRead(f *testing.F) {
	f.Add(expect.Value(os.ReadFile("testdata/twelve.csv"))(f))
	f.Add([]byte("\ufeff" + strings.ReplaceAll(file(top, ",,,B,,A,,,,,,,",
		"2,Bob,\"b@x.example\nc@x.example\",B,,,,,兼務,1,派遣,2026/4/1,"), "\n", "\r\n")))
	f.Add([]byte(file(top, "2,Bob,,A,,,,,,,employee,,2026-03-31", "2,Rob,,A,,,,,,,employee,2026-04-01,")))
	f.Add([]byte(file("1,Ann,,B,,A,chief,2,,,employee,,", "2,Bob,,D,,C,chief,2,,,employee,,",
		"1,,,C,,,chief,,concurrent,,,,", "2,,,A,,,chief,,concurrent,,,,")))
	f.Add([]byte("\x8e\xd0\x88\xf5\x94\xd4\x8d\x86,"))
	f.Add([]byte(`"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		o, err := organisation.Read(text)
		if err != nil {
			refusedInOrder(t, err)
			return
		}
		again := expect.Value(organisation.Assemble(o.Batches()))(t)
		expect.Is(t, again.SHA256(), o.SHA256())
		on := organisation.Date(0)
		for range 5 {
			chart := o.Chart(on)
			expect.Is(t, asShown(again.Chart(on)), asShown(chart))
			for _, p := range chart.People() {
				_, main := chart.Main(p.Number)
				expect.That(t, main && !chart.Below(p.Number, p.Number), "%+v", p)
			}
			chart.Gaps()
			next, ok := o.NextChange(on)
			if !ok {
				return
			}
			expect.Must(t, next > on && asShown(o.Chart(next)) != asShown(o.Chart(next-1)), "nothing changes on %s", next)
			on = next
		}
	})
}

func refusedInOrder(t *testing.T, err error) {
	t.Helper()
	problems, ok := errors.AsType[organisation.Problems](err)
	expect.Must(t, ok && len(problems.Listed) > 0 && len(problems.Listed) <= organisation.MaxProblems, "%v", err)
	row := 0
	for _, p := range problems.Listed {
		expect.That(t, p.Row >= row && p.Error() != "" && p.Rule != "", "%+v stands below row %d", p, row)
		row = p.Row
	}
}

// large returns the file of the largest company that is taken.
func large() []byte { return []byte(written(company(organisation.MaxPeople, seeded()))) }

func BenchmarkRead10000People(b *testing.B) {
	text := large()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		expect.Value(organisation.Read(text))(b)
	}
}

func BenchmarkAssemble10000People(b *testing.B) {
	batches := expect.Value(organisation.Read(large()))(b).Batches()
	b.ReportMetric(float64(len(batches)), "batches")
	for b.Loop() {
		expect.Value(organisation.Assemble(batches))(b)
	}
}

func BenchmarkChartOf10000People(b *testing.B) {
	o, on := expect.Value(organisation.Read(large()))(b), day(firstDay)
	b.ReportAllocs()
	for b.Loop() {
		o.Chart(on)
	}
}

func BenchmarkGapsOf10000People(b *testing.B) {
	chart := expect.Value(organisation.Read(large()))(b).Chart(day(firstDay))
	for b.Loop() {
		chart.Gaps()
	}
}

func BenchmarkManagersAbove(b *testing.B) {
	chart := expect.Value(organisation.Read(large()))(b).Chart(day(firstDay))
	people := chart.People()
	deepest := slices.MaxFunc(people, func(x, y organisation.Person) int {
		return len(chart.ManagersAbove(x.Number)) - len(chart.ManagersAbove(y.Number))
	})
	b.ReportMetric(float64(len(chart.ManagersAbove(deepest.Number))), "superiors")
	for b.Loop() {
		chart.ManagersAbove(deepest.Number)
	}
}
