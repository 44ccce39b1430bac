package main

import "encoding/json"

// files names the request's files, whose hashes are in what was stamped.
func (p *executed) files() {
	if p.Enclosed == "" {
		return
	}
	var of struct {
		Files []struct {
			Name, SHA256, Left string
			Bytes              int64
		}
	}
	err := json.Unmarshal([]byte(p.Enclosed), &of)
	p.wrongIf(err != nil, "the files can't be read: %v", err)
	for _, f := range of.Files {
		switch {
		case f.SHA256 == "":
			p.say("  the file %s could not be had", f.Name)
		case f.Left != "":
			p.say("  and the file %s of %d bytes, sha256 %s, which is not attached: %s", f.Name, f.Bytes, f.SHA256, f.Left)
		default:
			p.say("  with the file %s of %d bytes, sha256 %s", f.Name, f.Bytes, f.SHA256)
		}
	}
}
