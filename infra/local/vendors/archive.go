package vendors

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"path"
	"strings"
	"time"
)

// archive returns a commit's files as GitHub packs them, by git archive: below one folder, without what .gitattributes
// marks export-ignore, and with $Format:%H$ filled in where it says export-subst.
func (r *Repository) archive(sha string) ([]byte, error) {
	c, _ := r.objects.commit(sha)
	top := r.Owner + "-" + r.Name + "-" + sha[:7] + "/"
	if r.objects.clone != nil {
		return r.objects.clone.git(nil, "archive", "--format=tar.gz", "--prefix="+top, sha)
	}
	attributes := r.attributes(c.tree)
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	at := time.Unix(1_700_000_000, 0)
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header",
		PAXRecords: map[string]string{"comment": sha}})
	err = errors.Join(err, w.WriteHeader(&tar.Header{Name: top, Typeflag: tar.TypeDir, Mode: 0o775, ModTime: at}))
	skipped := []string{}
	r.objects.walk(c.tree, "", func(p string, l leaf) {
		if attributes(p, "export-ignore") || within(skipped, p) {
			skipped = append(skipped, p+"/")
			return
		}
		h := &tar.Header{Name: top + p, Mode: 0o664, ModTime: at, Typeflag: tar.TypeReg}
		content := r.objects.body(l.sha)
		switch l.mode {
		case folder, module:
			h.Name, h.Typeflag, h.Mode, content = h.Name+"/", tar.TypeDir, 0o775, nil
		case "120000":
			h.Typeflag, h.Linkname, h.Mode, content = tar.TypeSymlink, string(content), 0o777, nil
		case "100755":
			h.Mode = 0o775
		}
		if attributes(p, "export-subst") {
			content = bytes.ReplaceAll(content, []byte("$Format:%H$"), []byte(sha))
		}
		h.Size = int64(len(content))
		err = errors.Join(err, w.WriteHeader(h))
		_, failed := w.Write(content)
		err = errors.Join(err, failed)
	})
	err = errors.Join(err, w.Close(), z.Close())
	return out.Bytes(), err
}

func within(folders []string, p string) bool {
	for _, f := range folders {
		if strings.HasPrefix(p, f) {
			return true
		}
	}
	return false
}

// attributes reads the root's .gitattributes: lines of a pattern and names, without negation.
func (r *Repository) attributes(tree string) func(p, name string) bool {
	_, in := r.objects.entries(tree)
	lines := strings.Split(string(r.objects.body(in[".gitattributes"].sha)), "\n")
	return func(p, name string) bool {
		for _, line := range lines {
			fields := strings.Fields(line)
			if len(fields) < 2 {
				continue
			}
			pattern := strings.Trim(fields[0], "/")
			whole, _ := path.Match(pattern, p)
			last, _ := path.Match(pattern, path.Base(p))
			if whole || last && !strings.Contains(pattern, "/") {
				for _, x := range fields[1:] {
					if x == name {
						return true
					}
				}
			}
		}
		return false
	}
}
