// Package lazy makes what is costly when it is first asked for: functions start with all of their packages.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp is compiled when it is first asked for.
func Regexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
