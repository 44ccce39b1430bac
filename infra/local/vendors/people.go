package vendors

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// company is the id of the only company.
const company = 1884310

// employee is an entry of freee's list of employees. Some fields are personal; no tool may pass them on.
type employee struct {
	ID                 int64   `json:"id"`
	Num                string  `json:"num"`
	DisplayName        string  `json:"display_name"`
	EntryDate          string  `json:"entry_date"`
	RetireDate         *string `json:"retire_date"`
	UserID             *int64  `json:"user_id"`
	Email              *string `json:"email"`
	PayrollCalculation bool    `json:"payroll_calculation"`
	// The next three are null for people whose pay freee does not calculate.
	ClosingDay    *int    `json:"closing_day"`
	PayDay        *int    `json:"pay_day"`
	MonthOfPayDay *string `json:"month_of_pay_day"`

	dailyMins int // agreed working time per day
	groups    []belonging
	nameEN    string
}

// names are family names, given names and the local parts of e-mail addresses.
var names = strings.Split(`
佐藤 花子 hanako.sato, 鈴木 一郎 ichiro.suzuki, 田中 恵 megumi.tanaka, 高橋 健太 kenta.takahashi,
伊藤 美咲 misaki.ito, 渡辺 大輔 daisuke.watanabe, 山本 陽子 yoko.yamamoto, 中村 翔 sho.nakamura, 小林 由美 yumi.kobayashi,
加藤 直樹 naoki.kato, 吉田 彩 aya.yoshida, 山田 太郎 taro.yamada, 佐々木 亮 ryo.sasaki, 山口 真理 mari.yamaguchi,
松本 隆 takashi.matsumoto, 井上 智子 tomoko.inoue, 木村 拓也 takuya.kimura, 林 さくら sakura.hayashi,
斎藤 誠 makoto.saito, 清水 愛 ai.shimizu, 山崎 浩二 koji.yamazaki, 森 千尋 chihiro.mori, 池田 剛 tsuyoshi.ikeda,
橋本 奈々 nana.hashimoto, 阿部 修 osamu.abe, 石川 遥 haruka.ishikawa, 前田 正人 masato.maeda, 藤田 里奈 rina.fujita,
小川 淳 jun.ogawa, 後藤 明美 akemi.goto, 岡田 俊介 shunsuke.okada, 長谷川 舞 mai.hasegawa, 村上 洋平 yohei.murakami,
近藤 京子 kyoko.kondo, 石井 学 manabu.ishii, 坂本 優 yu.sakamoto, 遠藤 久美 kumi.endo, 青木 悠斗 yuto.aoki,
藤井 典子 noriko.fujii, 西村 和也 kazuya.nishimura, 福田 聡 satoshi.fukuda, 太田 香織 kaori.ota, 三浦 進 susumu.miura,
岡本 文子 fumiko.okamoto, 松田 光 hikaru.matsuda`, ",")

// retired is how many people, the last of names, have left. director is the index of a director.
const retired, director = 3, 40

// freee's spelling of the month of payment, and the closing day that means the last day of a month.
const (
	paidNextMonth    = "next_month"
	paidCurrentMonth = "current_month"
	endOfMonth       = 31
)

// staff returns the company's employees: 42 who work there and 3 who have left. Most are paid in the following month.
// Every ninth belongs to a team that is paid in the same month. The last of that team is a director, whose pay freee
// does not calculate.
func staff() []employee {
	var all []employee
	for i, line := range names {
		name := strings.Fields(line)
		email := name[2] + "@example.com"
		e := employee{
			ID: int64(3_510_001 + i*7), Num: fmt.Sprintf("A%04d", 101+i), DisplayName: name[0] + " " + name[1],
			nameEN:    latin(name[2]),
			EntryDate: fmt.Sprintf("20%02d-%02d-01", 8+i*5%15, 1+i*3%12), Email: &email,
			PayrollCalculation: true, ClosingDay: new(endOfMonth), PayDay: new(25), MonthOfPayDay: new(paidNextMonth),
			dailyMins: 8 * 60,
		}
		if i%9 == 4 {
			e.MonthOfPayDay, e.dailyMins = new(paidCurrentMonth), 7*60+30
		}
		if i == director {
			e.PayrollCalculation, e.ClosingDay, e.PayDay, e.MonthOfPayDay = false, nil, nil, nil
		}
		if i >= len(names)-retired {
			left := fmt.Sprintf("2024-%02d-30", 4+i%3*2)
			e.RetireDate = &left
		}
		all = append(all, e.in(departments()[i%len(departments())], e.EntryDate))
	}
	return all
}

// latin returns the name that an address hanako.sato belongs to.
func latin(address string) string {
	words := strings.Split(address, ".")
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, " ")
}

// in returns the employee who belongs to a department from a day on.
func (e employee) in(g group, from string) employee {
	e.groups = slices.Clone(e.groups)
	if last := len(e.groups) - 1; last >= 0 {
		day, _ := time.Parse(time.DateOnly, from) // of ours
		e.groups[last].end = day.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	e.groups = append(e.groups, belonging{g, from, noEnd})
	return e
}

// Person is an employee of AddPeople. Departments are the codes of those that the person belonged to, each from a day
// on.
type Person struct {
	Name, Entry, Retire string
	Departments         [][2]string // day, code
}

// AddPeople adds employees with a history. undo removes them.
func (v *Vendors) AddPeople(people ...Person) (undo func()) {
	var all []employee
	for i, p := range people {
		e := (*v.staff.Load())[0]
		e.ID, e.Num, e.DisplayName, e.EntryDate = int64(3_700_001+i), fmt.Sprintf("C%04d", 1+i), p.Name, p.Entry
		e.groups, e.nameEN = nil, ""
		if p.Retire != "" {
			e.RetireDate = &p.Retire
		}
		for _, d := range p.Departments {
			at := slices.IndexFunc(departments(), func(g group) bool { return g.Code == d[1] })
			e = e.in(departments()[at], d[0])
		}
		all = append(all, e)
	}
	before := v.staff.Load()
	v.staff.Store(new(slices.Concat(*before, all)))
	return func() { v.staff.Store(before) }
}

// people returns the employees by their names in the workspace's language.
func (v *Vendors) people() []employee {
	all := *v.staff.Load()
	if !v.english.Load() {
		return all
	}
	all = slices.Clone(all)
	for i := range all {
		all[i].DisplayName = v.named(all[i].DisplayName, all[i].nameEN)
	}
	return all
}

// group is a department in the format of freee's list.
type group struct {
	ID       int64  `json:"id"`
	Code     string `json:"code"`
	Name     string `json:"name"`
	Level    int    `json:"level"`
	ParentID *int64 `json:"parent_group_id"`
}

// belonging is a person's time in a department. Both days are included; freee gives this end to one that has none.
type belonging struct {
	group
	start, end string
}

const noEnd = "2999-12-31"

// departments are assigned to the employees in turn. The code of each is its name in the other language, so that it can
// be asked for by both.
func departments() []group {
	sales := int64(702)
	return []group{
		{ID: 701, Code: "HR", Name: "人事部", Level: 1},
		{ID: sales, Code: "Sales", Name: "営業部", Level: 1},
		{ID: 703, Code: "Engineering", Name: "開発部", Level: 1},
		{ID: 704, Code: "Sales 1", Name: "第一営業課", Level: 2, ParentID: &sales},
	}
}

// inLanguage names a department in the workspace's language.
func (v *Vendors) inLanguage(g group) group {
	if v.english.Load() {
		g.Code, g.Name = g.Name, g.Code
	}
	return g
}

func (v *Vendors) groups(w http.ResponseWriter, _ *http.Request) {
	all := departments()
	for i := range all {
		all[i] = v.inLanguage(all[i])
	}
	answer(w, http.StatusOK, map[string]any{"groups": all, "total_count": len(all)})
}

// positions lists the company's positions. One has no code, which freee allows.
func (v *Vendors) positions(w http.ResponseWriter, _ *http.Request) {
	all := []any{
		map[string]any{"id": 801, "code": "MGR", "name": v.named("部長", "Department head")},
		map[string]any{"id": 802, "code": "CHIEF", "name": v.named("課長", "Section head")},
		map[string]any{"id": 803, "code": nil, "name": v.named("主任", "Senior staff")},
	}
	answer(w, http.StatusOK, map[string]any{"positions": all, "total_count": len(all)})
}

// memberships answers who belongs where on one day: nobody who has not come yet, or has left before.
func (v *Vendors) memberships(w http.ResponseWriter, r *http.Request) {
	day, err := time.Parse(time.DateOnly, r.URL.Query().Get("base_date"))
	on := day.Format(time.DateOnly)
	people := []any{}
	withAll := r.URL.Query().Get("with_no_payroll_calculation") == "true"
	for _, e := range v.people() {
		if !withAll && !e.PayrollCalculation || e.EntryDate > on || e.RetireDate != nil && *e.RetireDate < on {
			continue
		}
		groups := []any{}
		for _, g := range e.groups {
			if g.start <= on && on <= g.end {
				is := v.inLanguage(g.group)
				groups = append(groups, map[string]any{
					"start_date": g.start, "end_date": g.end, "group_id": g.ID, "group_code": is.Code,
					"group_name": is.Name, "level": g.Level, "parent_group_id": g.ParentID,
					"parent_group_code": nil, "parent_group_name": nil,
					"boss_id": nil, "main_duty": "main_duty", "position_id": nil, "position_code": nil, "position_name": nil,
				})
			}
		}
		people = append(people, map[string]any{
			"id": e.ID, "num": e.Num, "display_name": e.DisplayName, "entry_date": e.EntryDate, "retire_date": e.RetireDate,
			"user_id": e.UserID, "login_email": e.Email, "birth_date": "1990-01-01", "gender": "unselected",
			"payroll_calculation": e.PayrollCalculation, "group_memberships": groups,
		})
	}
	shown, ok := page(r, people)
	if err != nil || !ok || r.URL.Query().Get("company_id") != strconv.Itoa(company) {
		freeeError(w, http.StatusBadRequest, "company_id, base_date, limit, offset が不正です。")
		return
	}
	answer(w, http.StatusOK, map[string]any{"employee_group_memberships": shown, "total_count": len(people)})
}
