package explain

import (
	"fmt"
	"strings"
	"time"

	"ringi/shared/domain/files"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Happened is the first sentence of a text, which says what happened and not what to do.
func Happened(text string) string {
	for _, end := range []string{"。", ". "} {
		if said, _, more := strings.Cut(text, end); more {
			return said + strings.TrimSpace(end)
		}
	}
	return text
}

// Length says how long something lasted, "" for zero: below ten seconds it has tenths.
func Length(locale string, d time.Duration) string {
	units := language.InEach([3]string{" 時間", " 分", " 秒"}, [3]string{" h", " min", " s"}).In(locale)
	h, m, s, alone := units[0], units[1], units[2], language.InEach("秒", " s").In(locale)
	switch seconds := int(d.Round(time.Second).Seconds()); {
	case d <= 0:
		return ""
	case d < 10*time.Second-time.Second/20:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", max(d.Seconds(), 0.1)), ".0") + alone
	case seconds < 60:
		return fmt.Sprintf("%d%s", seconds, alone)
	case seconds < 3600:
		return fmt.Sprintf("%d%s %d%s", seconds/60, m, seconds%60, s)
	case seconds/60%60 == 0:
		return fmt.Sprintf("%d%s", seconds/3600, h)
	default:
		return fmt.Sprintf("%d%s %d%s", seconds/3600, h, seconds/60%60, m)
	}
}

// Beside is a draft in which the lines stand out that another one has nowhere, and, where they stood, the other one's
// that it lacks.
func Beside(draft, other string) (text string, differs bool) {
	was, is, lines, at := strings.Split(other, "\n"), legible.Beside(draft, other), []string(nil), 0
	lacks := map[string]int{} // how many of the other one's lines
	for _, line := range legible.Beside(other, draft) {
		if line.Alone {
			lacks[line.Text]++
		}
	}
	add := func(some []legible.Line) {
		for _, line := range some {
			mark := ""
			if line.Alone {
				mark, differs = "➕ ", true
			}
			lines = append(lines, mark+line.Text)
		}
	}
	for _, s := range files.Compare(was, strings.Split(draft, "\n")) {
		add(is[at:s.Y0])
		for _, line := range was[s.X0:s.X1] {
			if lacks[line] > 0 {
				lacks[line]--
				lines, differs = append(lines, "➖ "+line), true
			}
		}
		at = s.Y0
	}
	add(is[at:])
	return strings.Join(lines, "\n"), differs
}
