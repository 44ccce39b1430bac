package explain

import (
	"slices"
	"strings"
)

// Done is Says for what has been done. rows is how many rows a sheet got, "" if nobody knows.
func (e *Effect) Done(locale, rows string) []Piece {
	done := *e
	done.Sentence = slices.Clone(e.Sentence)
	past := strings.NewReplacer(strings.Split(effectWordsOf.In(locale).Past, "/")...)
	for i, p := range done.Sentence {
		if p.Kind != Words {
			continue
		}
		if planned, _, found := strings.Cut(p.Text, rowsSign); found && e.Tool == toolSheet {
			p.Text = planned
			if rows != "" {
				p.Text += rowsSign + fillLine(lineWordsOf(locale).exactly, "n", grouped(rows))
			}
		}
		p.Text = past.Replace(p.Text)
		done.Sentence[i] = p
	}
	return done.Says(locale)
}

// rowsSign stands before the number of rows in the sentence about a sheet.
const rowsSign = " — "
