package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"time"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/isolated"
)

// objects reaches the objects of an action, by addresses that are valid for this action only: the archives of its files
// and of the attachments, the cancel object, and the place for the changed archive. Only the supervisor calls it, never
// the command.
type objects struct{ client *http.Client }

func newObjects() *objects {
	return &objects{&http.Client{
		Timeout:       15 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("an address redirects") },
	}}
}

// archive fetches the archive of the files. An empty address means no files.
func (o *objects) archive(ctx context.Context, address string) ([]byte, error) {
	if address == "" {
		return (&files.Tree{}).Archive()
	}
	b, status, err := o.get(ctx, address, files.MaxArchive)
	if err != nil {
		return nil, fmt.Errorf("get the workspace: %w", err)
	}
	if status/100 == 4 { // the object is gone, or its address has expired; trying again won't help
		return nil, fmt.Errorf("get the workspace: status %d: %w", status, isolated.ErrCannot)
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("get the workspace: status %d", status)
	}
	return b, nil
}

// cancelled reports whether the cancel object exists. While that is unknown it is false, and the command goes on.
func (o *objects) cancelled(ctx context.Context, address string) bool {
	_, status, err := o.get(ctx, address, 1<<10)
	return err == nil && status == http.StatusOK
}

func (o *objects) get(ctx context.Context, address string, limit int64) (body []byte, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, errors.New("the address can't be read") // the error would show the address's signature
	}
	res, err := o.client.Do(req)
	if err != nil {
		return nil, 0, withoutAddress(err)
	}
	defer res.Body.Close()
	body, err = io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return body, res.StatusCode, err
}

// upload posts an archive. It retries, because storing the same bytes twice is harmless.
func (o *objects) upload(ctx context.Context, to isolated.Form, archive []byte) error {
	var err error
	for try := range 3 {
		if try > 0 {
			select {
			case <-ctx.Done():
				return err
			case <-time.After(time.Duration(try) * time.Second):
			}
		}
		if err = o.post(ctx, to, archive); err == nil {
			return nil
		}
	}
	return err
}

func (o *objects) post(ctx context.Context, to isolated.Form, archive []byte) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range to.Fields {
		if err := form.WriteField(name, value); err != nil {
			return err
		}
	}
	file, err := form.CreateFormFile("file", "workspace.tar") // must be the last field: S3 ignores the following ones
	if err != nil {
		return err
	}
	if _, err := file.Write(archive); err != nil {
		return err
	}
	if err := form.Close(); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, &body)
	if err != nil {
		return errors.New("the upload's address can't be read")
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := o.client.Do(req)
	if err != nil {
		return withoutAddress(err)
	}
	defer res.Body.Close()
	io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("upload the workspace: status %d", res.StatusCode)
	}
	return nil
}

// withoutAddress removes the address from a call's error, since its query holds the signature.
func withoutAddress(err error) error {
	if wrapped := errors.Unwrap(err); wrapped != nil {
		return wrapped
	}
	return err
}
