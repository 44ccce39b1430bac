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

// Lasted says how long something lasted: below a minute in seconds, of which the first ten have tenths.
func Lasted(locale string, d time.Duration) string {
	d = max(d, 0)
	if d.Round(time.Second) >= time.Minute {
		return Length(locale, d.Round(time.Second))
	}
	n := fmt.Sprintf("%.0f", d.Round(time.Second).Seconds())
	if tenths := d.Round(100 * time.Millisecond); tenths < 10*time.Second && tenths%time.Second != 0 {
		n = fmt.Sprintf("%.1f", tenths.Seconds())
	}
	return n + language.InEach("秒", " s").In(locale)
}

// Length formats a duration; "" for zero.
func Length(locale string, d time.Duration) string {
	units := language.InEach([3]string{" 時間", " 分", " 秒"}, [3]string{" h", " min", " s"}).In(locale)
	h, m, s := units[0], units[1], units[2]
	switch seconds := int(d.Seconds()); {
	case d <= 0:
		return ""
	case d < time.Second:
		return fmt.Sprintf("%.2f%s", max(d.Seconds(), 0.01), s)
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f%s", d.Seconds(), s)
	case seconds < 60:
		return fmt.Sprintf("%d%s", seconds, s)
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
