package conversation

import "strings"

// Cause is the kind of reason why nothing was read of a file, for pages: the reason itself is written for the model.
type Cause string

const (
	TooLarge   Cause = "too_large"
	OtherType  Cause = "other_type"
	TooMany    Cause = "too_many" // newer ones took what may be read
	Altered    Cause = "altered"  // after an answer had been made of it
	Silent     Cause = "silent"   // Slack did not give it; the next answer tries again
	Unreadable Cause = "unreadable"
)

// Causes are all of them, for whoever has words for each.
var Causes = []Cause{TooLarge, OtherType, TooMany, Altered, Silent, Unreadable}

// beginnings are how reasons of a kind begin.
var beginnings = []struct {
	text  string
	cause Cause
}{
	{"the image has ", TooLarge}, {"the text has ", TooLarge}, {"it has ", TooLarge}, {OnlyRead, OtherType}, {"only the newest ", TooMany}, {Changed, Altered}, {NotNow, Silent},
}

// Reasons why nothing was read of a file, as the model is told them.
const (
	OnlyRead = "only text and images are read"
	Changed  = "it was changed after it had been read"
	// NotNow is why a file was not read which may be read for the next answer.
	NotNow = "Slack did not give it now"
)

// CauseOf is the kind of a reason; of one that is not known, Unreadable.
func CauseOf(why string) Cause {
	for _, b := range beginnings {
		if strings.HasPrefix(why, b.text) {
			return b.cause
		}
	}
	return Unreadable
}
