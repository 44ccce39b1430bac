// Package contests holds sample files of contests: teams, a contest's file, an evaluator and a judge.
package contests

import (
	"embed"
	"io/fs"
)

//go:embed sample
var files embed.FS

// File is the path of the contest's file within the sample.
const File = "configs/contest.toml"

func Sample() fs.FS {
	sub, err := fs.Sub(files, "sample")
	if err != nil { // the folder is embedded, so it exists
		panic(err)
	}
	return sub
}
