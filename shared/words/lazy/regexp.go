// Package lazy postpones costly work until it is first needed, because functions initialise all of their packages when
// they start.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp compiles an expression when it is first needed.
func Regexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
