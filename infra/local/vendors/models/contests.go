package models

import (
	"embed"
	"io/fs"
)

//go:embed sample
var files embed.FS

// File is the path of the contest's file within the sample.
const SampleFile = "configs/contest.toml"

func Sample() fs.FS {
	sub, err := fs.Sub(files, "sample")
	if err != nil { // the folder is embedded, so it exists
		panic(err)
	}
	return sub
}
