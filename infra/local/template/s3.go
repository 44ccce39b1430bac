package template

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
)

const bucketARN = "arn:aws:s3:::"

// s3 reads calls that name the bucket in the path.
func (a Account) s3(c call) ([]Request, error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(c.URL.Path, "/"), "/")
	if key == "" {
		return a.s3Bucket(c, bucket)
	}
	query := c.URL.Query()
	for name := range query {
		if subresources[name] {
			return nil, unknown("s3:" + c.Method + " ?" + name)
		}
	}
	action := ""
	switch c.Method {
	case http.MethodGet, http.MethodHead:
		action = "s3:GetObject"
	case http.MethodPut:
		action = "s3:PutObject"
	case http.MethodPost: // begins or completes a multipart upload
		if query.Has("uploads") || query.Has("uploadId") {
			action = "s3:PutObject"
		}
	case http.MethodDelete:
		if action = "s3:DeleteObject"; query.Has("uploadId") {
			action = "s3:AbortMultipartUpload"
		}
	}
	if action == "" || c.Header.Get("X-Amz-Copy-Source") != "" || query.Has("versionId") {
		return nil, unknown("s3:" + c.Method + " of this kind")
	}
	for name := range c.Header {
		if strings.HasPrefix(name, "X-Amz-Object-Lock-") || name == "X-Amz-Acl" || name == "X-Amz-Tagging" {
			return nil, unknown("s3:" + action + " with " + name)
		}
	}
	return []Request{{Action: action, Resource: bucketARN + bucket + "/" + key}}, nil
}

// subresources need actions of their own. Calls on them are refused as unknown.
var subresources = map[string]bool{"acl": true, "tagging": true, "retention": true, "legal-hold": true,
	"attributes": true, "torrent": true, "select": true, "restore": true}

func (a Account) s3Bucket(c call, bucket string) ([]Request, error) {
	query := c.URL.Query()
	switch {
	case c.Method == http.MethodHead, c.Method == http.MethodGet && query.Get("list-type") == "2":
		return []Request{{Action: "s3:ListBucket", Resource: bucketARN + bucket}}, nil
	case c.Method == http.MethodGet && query.Has("versions"):
		return []Request{{Action: "s3:ListBucketVersions", Resource: bucketARN + bucket}}, nil
	case c.Method == http.MethodPost && query.Has("delete"):
		var in struct {
			Object []struct{ Key, VersionId string }
		}
		if err := xml.Unmarshal(c.body, &in); err != nil {
			return nil, fmt.Errorf("read the body of DeleteObjects: %w", err)
		}
		var all []Request
		for _, o := range in.Object {
			action := "s3:DeleteObject"
			if o.VersionId != "" {
				action = "s3:DeleteObjectVersion"
			}
			all = append(all, Request{Action: action, Resource: bucketARN + bucket + "/" + o.Key})
		}
		return all, nil
	case c.Method == http.MethodPost: // an upload by a signed form
		if key := c.form("key"); key != "" {
			return []Request{{Action: "s3:PutObject", Resource: bucketARN + bucket + "/" + key}}, nil
		}
	}
	return nil, unknown("s3:" + c.Method + " of a bucket")
}

// form returns a field of an upload form, or "" if there is none.
func (c call) form(field string) string {
	kind, parameters, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return ""
	}
	for parts := multipart.NewReader(bytes.NewReader(c.body), parameters["boundary"]); ; {
		part, err := parts.NextPart()
		if err != nil || part.FormName() == "file" { // like S3, ignores fields after the file
			return ""
		}
		if strings.EqualFold(part.FormName(), field) {
			text, err := io.ReadAll(part)
			if err != nil {
				return ""
			}
			return string(text)
		}
	}
}
