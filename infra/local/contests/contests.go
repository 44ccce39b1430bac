// Package contests holds sample files of contests: teams, a contest's file, an evaluator and a judge.
package contests

import (
	"embed"
	"io/fs"
)

//go:embed sample
var files embed.FS

// File is the path of the contest's file in the sample.
const File = "configs/contest.toml"

// Sample returns the sample files.
func Sample() fs.FS {
	sub, err := fs.Sub(files, "sample")
	if err != nil { // the folder is embedded
		panic(err)
	}
	return sub
}
