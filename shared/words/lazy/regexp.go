// Package lazy postpones costly work until it is first needed, because functions initialise all of their packages when
// they start.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp compiles an expression when it is first needed.
func Regexp(text string) func() *regexp.Regexp { return (&expression{text: text}).compile }

// expression does what sync.OnceValue does, which would add four functions to the binary for each expression.
type expression struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
}

func (e *expression) compile() *regexp.Regexp {
	e.once.Do(func() { e.compiled = regexp.MustCompile(e.text) })
	return e.compiled
}
