package browser

import "sync"

// common is the Chromium that the tests of a package share while Share runs.
var common sharing

type sharing struct {
	mu  sync.Mutex
	on  bool
	one *Browser // nil until a test asks for it
	end func()
}

// Share runs a package's tests with one Chromium, which ends after the last of them. A test that passes host names to
// Start gets a Chromium of its own.
func Share(run func() int) int {
	common.mu.Lock()
	common.on = true
	common.mu.Unlock()
	defer common.close()
	return run()
}

// browser returns the shared Chromium, or a new one for this test. The test calls end when it finishes.
func (s *sharing) browser(path string, names []string) (b *Browser, end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.on || len(names) > 0 {
		return launch(path, names)
	}
	if s.one == nil || s.one.ctx.Err() != nil { // replaces one that died
		s.stop()
		if s.one, s.end, err = launch(path, nil); err != nil {
			return nil, nil, err
		}
	}
	return s.one, func() {}, nil
}

func (s *sharing) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = false
	s.stop()
}

func (s *sharing) stop() {
	if s.end != nil {
		s.end()
	}
	s.one, s.end = nil, nil
}
