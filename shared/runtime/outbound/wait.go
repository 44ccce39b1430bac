package outbound

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestWait is the longest wait that an answer's headers may ask for.
const longestWait = 24 * time.Hour

// RetryAfter returns how long an answer's headers ask to wait, a day at most: in seconds, whole or not, or until a date,
// as vendors and the proxies before them write it, or in the milliseconds of Retry-After-Ms. It returns 0 if they don't
// say, or nothing that makes sense.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return Wait(ms / 1000)
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return Wait(s)
	}
	if at, err := http.ParseTime(text); err == nil {
		return Wait(at.Sub(now).Seconds())
	}
	return 0
}

// Wait converts a number of seconds that a vendor asks for to a wait of at most a day; 0 for none.
func Wait(seconds float64) time.Duration {
	if !(seconds > 0) { // NaN too
		return 0
	}
	return time.Duration(min(seconds, longestWait.Seconds()) * float64(time.Second))
}
