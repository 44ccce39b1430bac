package organisation_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

// worker is a person of a drawn company, as an administrator would tell of them.
type worker struct {
	number, family, given string
	posts                 []job
	kind, kindSaid        string // Ringi's word, and one of a product
	from, to              string
	away                  bool
}

// job is where somebody works: the index of a department, -1 without one.
type job struct {
	department int
	position   string
}

// workforce is a drawn company. A department stands below an earlier one.
type workforce struct {
	parents []int // -1 at the top
	workers []worker
}

var drawnRanks = map[string]int{"社長": 1, "部長": 3, "課長": 3, "主任": 7}

func drawStaff(t *rapid.T) (s workforce) {
	for i := range rapid.IntRange(1, 5).Draw(t, "departments") {
		s.parents = append(s.parents, rapid.IntRange(-1, i-1).Draw(t, "parent"))
	}
	positions := rapid.SampledFrom([]string{"", "社長", "部長", "課長", "主任"})
	kinds := rapid.SampledFrom([][2]string{{"社員", "正社員"}, {"社員", "パート"}, {"委託", "業務委託"}, {"派遣", "派遣社員"}})
	for i := range rapid.IntRange(1, 6).Draw(t, "people") {
		kind := kinds.Draw(t, "kind")
		w := worker{number: fmt.Sprint("N", i), family: "姓", given: fmt.Sprint("名", i), kind: kind[0], kindSaid: kind[1],
			from: rapid.SampledFrom([]string{"", "2020-04-01"}).Draw(t, "from"),
			to:   rapid.SampledFrom([]string{"", "2027-03-31"}).Draw(t, "to"), away: rapid.IntRange(0, 4).Draw(t, "away") == 0}
		for n := range rapid.IntRange(1, 3).Draw(t, "posts") {
			least := 0
			if n == 0 {
				least = -1
			}
			j := job{rapid.IntRange(least, len(s.parents)-1).Draw(t, "department"), positions.Draw(t, "position")}
			if !slices.Contains(w.posts, j) && (n == 0 || w.posts[0].department >= 0) {
				w.posts = append(w.posts, j)
			}
		}
		s.workers = append(s.workers, w)
	}
	return s
}

// path returns the names of a department and those above it, the topmost first.
func (s workforce) path(i int) []string {
	if i < 0 {
		return nil
	}
	return append(s.path(s.parents[i]), fmt.Sprintf("部署%c", 'A'+i))
}

// highest returns the highest rank of whoever has a department.
func (s workforce) highest() int {
	rank := organisation.MaxRank + 1
	for _, w := range s.workers {
		for _, j := range w.posts {
			if j.department >= 0 && j.position != "" {
				rank = min(rank, drawnRanks[j.position])
			}
		}
	}
	return rank
}

// own writes the company as Ringi's own file, with the codes that files of paths or of codes lead to.
func (s workforce) own(code func(int) string, all bool) string {
	tops, homeless, used := []int{}, false, map[int]bool{}
	for _, w := range s.workers {
		homeless = homeless || w.posts[0].department < 0
		for _, j := range w.posts {
			for d := j.department; d >= 0; d = s.parents[d] {
				used[d] = true
			}
		}
	}
	for d, parent := range s.parents {
		if parent < 0 && (all || used[d]) {
			tops = append(tops, d)
		}
	}
	top := ""
	rows := []string{strings.TrimSpace(ownHeader)}
	if homeless && len(tops) != 1 {
		top = organisation.Top
		rows = append(rows, ",,,*,,,,,,,,,,")
	}
	at := func(d int) string {
		switch {
		case d >= 0:
			return code(d)
		case top != "":
			return top
		}
		return code(tops[0])
	}
	for d, parent := range s.parents {
		if all || used[d] {
			above := top
			if parent >= 0 {
				above = code(parent)
			}
			rows = append(rows, fmt.Sprintf(",,,%s,部署%c,%s,,,,,,,,", code(d), 'A'+d, above))
		}
	}
	highest := s.highest()
	for _, w := range s.workers {
		for n, j := range w.posts {
			if j.department < 0 && drawnRanks[j.position] >= highest {
				j.position = ""
			}
			rank, main, status := "", []string{"主務", "兼務"}[min(n, 1)], []string{"", "休職"}[map[bool]int{true: 1}[w.away]]
			if j.position != "" {
				rank = fmt.Sprint(drawnRanks[j.position])
			}
			rows = append(rows, fmt.Sprintf("%s,%s %s,%s@x.example,%s,,,%s,%s,%s,,%s,%s,%s,%s", w.number, w.family, w.given,
				strings.ToLower(w.number), at(j.department), j.position, rank, main, w.kind, w.from, w.to, status))
		}
	}
	return strings.Join(rows, "\n") + "\n"
}

// person writes what a product says of a person.
func (w worker) person() string {
	return fmt.Sprintf("%s,%s,%s,%s@x.example,%s,%s,%s,%s", w.number, w.family, w.given, strings.ToLower(w.number),
		w.kindSaid, []string{"在職中", "休職中"}[map[bool]int{true: 1}[w.away]], strings.ReplaceAll(w.from, "-", "/"),
		strings.ReplaceAll(w.to, "-", "/"))
}

const personHeader = "社員番号,姓,名,メールアドレス,雇用形態,在籍状況,入社年月日,退職年月日"

// asWide writes the company as SmartHR does: all posts in one row.
func (s workforce) asWide() []organisation.File {
	text := personHeader + ",部署1 部署,役職1 役職,部署2 部署,役職2 役職,部署3 部署,役職3 役職\n"
	for _, w := range s.workers {
		text += w.person()
		for n := range 3 {
			post := ","
			if n < len(w.posts) {
				post = strings.Join(s.path(w.posts[n].department), "/") + "," + w.posts[n].position
			}
			text += "," + post
		}
		text += "\n"
	}
	return []organisation.File{named("従業員.csv", text)}
}

// asCodes writes the company as カオナビ does: people, second posts and departments in files of their own.
func (s workforce) asCodes(code func(int) string) []organisation.File {
	people, second, tree := personHeader+",所属コード,役職,フリガナ\n", "社員番号,所属コード,役職\n", "所属1コード,所属名1"
	for n := range len(s.parents) - 1 {
		tree += fmt.Sprintf(",所属%dコード,所属名%d", n+2, n+2)
	}
	tree += "\n"
	for d := range s.parents {
		var all []string
		for at := d; at >= 0; at = s.parents[at] {
			all = append([]string{code(at) + fmt.Sprintf(",部署%c", 'A'+at)}, all...)
		}
		tree += strings.Join(all, ",") + "\n"
	}
	for _, w := range s.workers {
		first := ""
		if w.posts[0].department >= 0 {
			first = code(w.posts[0].department)
		}
		people += w.person() + "," + first + "," + w.posts[0].position + ",カナ\n"
		for _, j := range w.posts[1:] {
			second += w.number + "," + code(j.department) + "," + j.position + "\n"
		}
	}
	files := []organisation.File{named("people.csv", people), named("tree.csv", tree)}
	if strings.Count(second, "\n") > 1 {
		files = append(files, named("兼務.csv", second))
	}
	return files
}

// mixed returns the codes of a file that has codes only of departments in which somebody works.
func (s workforce) mixed(code, path func(int) string) func(int) string {
	return func(d int) string {
		for _, w := range s.workers {
			if slices.ContainsFunc(w.posts, func(j job) bool { return j.department == d }) {
				return code(d)
			}
		}
		return path(d)
	}
}

// asBoth writes the company with codes and paths in one file, of which those above nobody works in have no code.
func (s workforce) asBoth(code func(int) string) []organisation.File {
	text := personHeader + ",部署コード,部署,兼務部署コード1,兼務部署1,兼務部署コード2,兼務部署2,役職,兼務役職1,兼務役職2\n"
	for _, w := range s.workers {
		text += w.person()
		positions := ""
		for n := range 3 {
			post := ","
			if n < len(w.posts) && w.posts[n].department >= 0 {
				post = code(w.posts[n].department) + "," + strings.Join(s.path(w.posts[n].department), " > ")
			}
			text += "," + post
			if positions += ","; n < len(w.posts) {
				positions += w.posts[n].position
			}
		}
		text += positions + "\n"
	}
	return []organisation.File{named("", text)}
}

// Files of products, in whatever order, say what Ringi's own file of the same facts says.
func TestALaidFileIsTheOwnFileOfTheSameFacts(t *testing.T) {
	kept := organisation.Kept{Ranks: drawnRanks}
	rapid.Check(t, func(t *rapid.T) {
		s := drawStaff(t)
		byPath := func(d int) string { return strings.Join(s.path(d), "/") }
		byCode := func(d int) string { return fmt.Sprint("D", d) }
		shuffled := s
		shuffled.workers = rapid.Permutation(s.workers).Draw(t, "workers")
		for own, files := range map[string][]organisation.File{s.own(byPath, false): shuffled.asWide(),
			s.own(byCode, true):                   shuffled.asCodes(byCode),
			s.own(s.mixed(byCode, byPath), false): shuffled.asBoth(byCode)} {
			files = rapid.Permutation(files).Draw(t, "order")
			l, err := organisation.Lay(files, kept, 0)
			expect.Must(t, err == nil && !l.Asks(), "%v %+v\n%s", err, l, files)
			expect.Is(t, string(l.Organisation.Canonical()), string(read(t, own).Canonical()), "%s", files)
		}
	})
}

// Whatever is laid never ends the program, and what has no problem and no question can be written and read again.
func FuzzLay(f *testing.F) {
	for _, name := range expect.Value(filepath.Glob("testdata/layouts/*.csv"))(f) {
		text := expect.Value(os.ReadFile(name))(f)
		f.Add(text, []byte("社員番号,所属コード,役職\nK002,120,部長\n"), "x 兼務", "/")
		f.Add(text, text, "", "whole")
	}
	f.Add([]byte("社員番号,氏名,部署\n1,A,*\n2,B,/\n"), []byte("code,level1\n*,*\n"), "", "")
	f.Fuzz(func(t *testing.T, first, second []byte, name, split string) {
		if len(first)+len(second) > 1<<15 {
			return
		}
		files := []organisation.File{{Text: first}, {Name: name, Text: second}}
		kept := organisation.Kept{Split: split, Values: map[string]string{}, Ranks: map[string]int{}}
		l, err := organisation.Lay(files, kept, 0)
		if _, ok := errors.AsType[organisation.Problems](err); err != nil && ok {
			return
		}
		expect.NoError(t, err)
		for _, v := range l.Values {
			if v.As == "" {
				kept.Values[v.Key()] = organisation.Choices(v.Column)[0]
			}
		}
		for _, r := range l.Ranks {
			kept.Ranks[r.Position] = r.Rank
		}
		l, err = organisation.Lay(files, kept, 0)
		if err != nil || len(l.Missing) > 0 {
			return
		}
		expect.Must(t, l.Organisation != nil || l.Asks(), "nothing is asked, and there is no organisation")
		if l.Organisation == nil {
			return
		}
		again := expect.Value(organisation.Assemble(l.Organisation.Batches()))(t)
		expect.Is(t, again.SHA256(), l.Organisation.SHA256())
		expect.Is(t, read(t, asFile(t, again.Rows("ja"))).SHA256(), again.SHA256())
	})
}
