package organisation

import (
	"fmt"
	"strconv"

	"ringi/shared/words/language"
)

// Days as files of Japanese products have them, and with a time of the day that says nothing.
var (
	japaneseDay = language.Regexp{Text: `(?i)^(明治|大正|昭和|平成|令和|[MTSHR])?(\d{1,4}|元)[年./-](\d{1,2})[月./-](\d{1,2})日?$`}
	timeOfDay   = language.Regexp{Text: `^(.*\d)[ T]0?0:00(?::00)?$`}
	// dayNumber matches the days since 1899 by which Excel counts, from 1954 on.
	dayNumber = language.Regexp{Text: `^[2-9]\d{4}$`}
)

// eras are the years before the first ones of Japanese eras.
var eras = []struct {
	names  [2]string
	before int
}{
	{[2]string{"明治", "m"}, 1867}, {[2]string{"大正", "t"}, 1911}, {[2]string{"昭和", "s"}, 1925},
	{[2]string{"平成", "h"}, 1988}, {[2]string{"令和", "r"}, 2018},
}

// western returns a day of another form as ParseDate reads it, and any other text as it is.
func western(s string) string {
	if day := timeOfDay.Get().FindStringSubmatch(s); day != nil {
		s = day[1]
	}
	parts := japaneseDay.Get().FindStringSubmatch(s)
	if parts == nil {
		return s
	}
	year, err := strconv.Atoi(parts[2])
	if err != nil {
		year = 1 // 元
	}
	if parts[1] == "" && len(parts[2]) != 4 {
		return s
	}
	for _, e := range eras {
		if lower(parts[1]) == e.names[0] || lower(parts[1]) == e.names[1] {
			year += e.before
		}
	}
	return fmt.Sprintf("%d-%s-%s", year, parts[3], parts[4])
}
