package organisation

import (
	"slices"
	"strings"
)

// usual are positions as most companies rank them, the highest first: only a proposal, people are asked. Deputies that
// are not among them stand one list below.
var usual = [][]string{
	{"代表取締役会長", "取締役会長", "会長", "chairman"},
	{"代表取締役社長", "代表取締役", "取締役社長", "社長", "代表社員", "理事長", "頭取", "ceo", "president",
		"chief executive officer"},
	{"代表取締役副社長", "取締役副社長", "副社長", "副会長", "副理事長", "coo", "cfo", "cto", "evp"},
	{"専務取締役", "専務", "専務理事"}, {"常務取締役", "常務", "常務理事"}, {"取締役", "理事", "director of the board"},
	{"執行役員", "vp", "vice president"}, {"本部長", "事業部長", "支社長", "部門長", "general manager"},
	{"部長", "局長", "支店長", "工場長", "総支配人", "校長", "園長", "院長", "director", "department head"},
	{"次長", "室長", "教頭", "事務長", "deputy director"},
	{"課長", "所長", "店長", "センター長", "支配人", "場長", "駅長", "館長", "施設長", "師長", "グループ長", "グループリーダー", "マネージャー",
		"マネジャー", "manager", "section head", "store manager", "branch manager", "plant manager"},
	{"助役", "assistant manager"},
	{"係長", "チーム長", "チームリーダー", "リーダー", "team lead", "team leader", "supervisor"},
	{"主任", "班長", "職長", "組長"},
}

// deputy are the words behind a position of somebody who stands in for whoever has it.
var deputy = []string{"代理", "補佐", "心得"}

// partTimers are the words of employments, and in place of positions, of people who work part-time, in lower case.
var partTimers = []string{"パート", "アルバイト", "パート・アルバイト", "パートタイマー", "part-time", "part time"}

// position returns a person's nth position. What a part-timer is called counts as none where no order of positions has
// it, be it said or usual: it leads nobody, and nobody has to be asked about it.
func (r *reader) position(s *sheet, x tableRow, nth int) string {
	is := Posted(s.cell(x, ColumnPosition, nth))
	if is == "" || s.has(ColumnRank) || usualRank(is) > 0 || !r.partTime(s, x) && !slices.Contains(partTimers, lower(is)) {
		return is
	}
	if _, said := r.kept.Ranks[is]; said {
		return is
	}
	r.unposted[r.who(s, x)] = true
	return ""
}

// partTime reports whether somebody works part-time, by how they are employed.
func (r *reader) partTime(s *sheet, x tableRow) bool {
	return slices.Contains(partTimers, lower(s.cell(x, ColumnEmployment, 1)))
}

// usualRank returns where a position usually stands; 0 for one that isn't usual. Before a Japanese one may stand of
// what somebody is the head: 営業部長, 東京支店長.
func usualRank(position string) (rank int) {
	position = lower(position)
	below := 0
	for _, word := range deputy {
		if rest, ok := strings.CutSuffix(position, word); ok {
			position, below = rest, 1
		}
	}
	longest := 0
	for i, names := range usual {
		for _, name := range names {
			ends := name[0] >= 0x80 && strings.HasSuffix(position, name) // its letters are not ASCII
			if position != name && !ends || len(name) <= longest {
				continue
			}
			if rank, longest = i+1+below, len(name); strings.HasSuffix(position, "副"+name) {
				rank++
			}
		}
	}
	return rank
}
