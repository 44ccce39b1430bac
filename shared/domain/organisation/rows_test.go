package organisation_test

import (
	"bytes"
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// asFile writes rows as a file.
func asFile(t *testing.T, rows [][]string) string {
	t.Helper()
	var b bytes.Buffer
	expect.NoError(t, csv.NewWriter(&b).WriteAll(rows))
	return b.String()
}

func TestWhatIsWrittenIsReadAsTheSameOrganisation(t *testing.T) {
	for name, o := range map[string]*organisation.Organisation{
		"twelve": twelve(t), "300": read(t, written(company(300, seeded()))), "1": read(t, written(company(1,
			seeded()))),
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
