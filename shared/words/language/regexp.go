package language

import (
	"regexp"
	"sync"
)

// Regexp compiles Text when it is first needed. As a variable it costs nothing until then.
type Regexp struct {
	Text     string
	once     sync.Once
	compiled *regexp.Regexp
}

// Get returns the compiled expression.
func (r *Regexp) Get() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.Text) })
	return r.compiled
}
