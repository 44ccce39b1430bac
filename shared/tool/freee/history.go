package freee

import (
	"fmt"
	"time"

	"ringi/shared/words/language"
)

// aYear is the most months that are judged.
const aYear = 12

// histories returns for each record the same person's previous months, latest first and up to the first gap. A record's
// month is the one in which the days that freee counted end.
func histories(records []Record, earlier [][]Record) (before [][]Record, problems []string) {
	before = make([][]Record, len(records))
	if len(earlier) == 0 {
		return before, nil
	}
	known := map[int64]map[int]Record{}
	for _, list := range earlier {
		for _, r := range list {
			month, err := monthOfOvertime(r)
			if err != nil {
				problems = append(problems, about(r, err.Error()))
				continue
			}
			if known[r.EmployeeID] == nil {
				known[r.EmployeeID] = map[int]Record{}
			}
			if _, twice := known[r.EmployeeID][month]; twice {
				problems = append(problems, about(r, named(month)+" twice"))
			}
			known[r.EmployeeID][month] = r
		}
	}
	for i, r := range records {
		month, err := monthOfOvertime(r)
		if err != nil {
			problems = append(problems, about(r, err.Error()))
			continue
		}
		for other := range known[r.EmployeeID] {
			if other == month {
				problems = append(problems, about(r, named(month)+" twice"))
			} else if other > month {
				problems = append(problems, about(r, fmt.Sprintf("%s is not before %s", named(other), named(month))))
			}
		}
		for n := 1; n < aYear; n++ {
			was, ok := known[r.EmployeeID][month-n]
			if !ok {
				break
			}
			before[i] = append(before[i], was)
		}
	}
	return before, problems
}

// monthOf numbers months consecutively.
func monthOfOvertime(r Record) (int, error) {
	end, err := time.Parse(time.DateOnly, r.EndDate)
	if err != nil {
		return 0, fmt.Errorf("end_date %q", r.EndDate)
	}
	return end.Year()*12 + int(end.Month()) - 1, nil
}

func named(month int) string { return fmt.Sprintf("%04d-%02d", month/12, month%12+1) }

func about(r Record, what string) string {
	return fmt.Sprintf("%s (%d): %s", r.DisplayName, r.EmployeeID, what)
}

// note says which limits can't be judged from so many months.
func note(locale string, months int) string {
	texts := language.InEach(
		[]string{
			"1 か月分のため、複数月平均 80 時間と年 360 時間の上限は判定できません。",
			"%d か月分で判定。年 360 時間は、この期間だけの合計で判定しています。",
			"%d か月分で判定。年 360 時間は直近 12 か月の合計です (36 協定の起算日とは異なることがあります)。",
		},
		[]string{
			"The multi-month limits (80 h on average, 360 h a year) need more than one month.",
			"Checked across %d months. The 360 h limit counts these months only.",
			"Checked across %d months. The 360 h limit counts the last 12 months, which may differ from your labor agreement's year.",
		},
	).In(locale)
	one, some, all := texts[0], texts[1], texts[2]
	switch {
	case months == 1:
		return one
	case months < aYear:
		return fmt.Sprintf(some, months)
	}
	return fmt.Sprintf(all, months)
}
