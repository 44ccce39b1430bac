package organisation_test

import (
	"slices"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

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
