// Package coldstart measures how long a function's process takes until it asks
// for its first event, and what it weighs.
package coldstart

import "time"

// Report is every function beside a bare handler with the same clients, and two beside Bolt for JavaScript.
type Report struct {
	Spawns    int        `json:"spawns"` // of each, in pairs
	Functions []Function `json:"functions"`
	Bolt      *Bolt      `json:"bolt,omitempty"` // nil where there is no Node
}

// Function is one function beside its bare handler.
type Function struct {
	Name    string        `json:"name"` // of its folder
	Bare    string        `json:"bare"` // the clients that both make
	Size    int64         `json:"size"` // bytes of its binary
	RSS     int64         `json:"rss"`  // bytes, when it asks for its first event; 0 where it can't be told
	Min     time.Duration `json:"min"`  // from the start of the process to the first event asked for
	Median  time.Duration `json:"median"`
	BareMin time.Duration `json:"bare_min"`
	BareMed time.Duration `json:"bare_median"`
	// Ratio is the median over pairs of function to bare handler.
	Ratio float64 `json:"ratio"`
}

// Bolt is an app with Bolt for JavaScript and the same clients as receive-interaction.
type Bolt struct {
	Node   string        `json:"node"`
	Bolt   string        `json:"bolt"`
	Size   int64         `json:"size"` // bytes of what is deployed: the app with its modules
	RSS    int64         `json:"rss"`
	Min    time.Duration `json:"min"`
	Median time.Duration `json:"median"`
	// Ratio is the median over pairs of Bolt to receive-interaction.
	Ratio float64 `json:"ratio"`
}
