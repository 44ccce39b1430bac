package console

import (
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	domain "ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// A cell of other files is another cell, whatever they are called.
func TestACellNamesFilesApart(t *testing.T) {
	cell := func(names ...string) string {
		a := &domain.Aggregate{Request: &domain.Request{}, Files: &domain.Files{}}
		for i, name := range names {
			f := domain.ReadFile{SharedFile: aggregate.SharedFile{ID: string(rune('a' + i)), Name: name}}
			f.Take([]byte("%PDF-1.7"), i)
			a.Request.Files, a.Files.Files = append(a.Request.Files, f.SharedFile), append(a.Files.Files, f)
		}
		return named(web.TextsOf("audit", "ja"), a)
	}
	sum := aggregate.HashOf("%PDF-1.7")
	two := cell("見積.pdf", "契約.pdf")
	expect.Is(t, two, "「見積.pdf」 (8 B、SHA-256 "+sum+") / 「契約.pdf」 (8 B、SHA-256 "+sum+")")
	for _, one := range []string{"見積.pdf (8 B、SHA-256 " + sum + ") / 契約.pdf", "見積.pdf」 (8 B、SHA-256 " + sum +
		") / 「契約.pdf"} {
		expect.That(t, cell(one) != two, "%q looks like two files", one)
	}
	expect.That(t, cell("a\u200bb.pdf") != cell("ab.pdf"), "what is invisible is left out")
}
