package web

import (
	"fmt"
	"time"

	"ringi/shared/words/language"
)

// TimeOf returns a row's optional time; the zero time if it is missing.
func TimeOf(t *time.Time) (out time.Time) {
	if t != nil {
		out = *t
	}
	return out
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
	default:
		return fmt.Sprintf("%d%s %d%s", seconds/3600, h, seconds/60%60, m)
	}
}
