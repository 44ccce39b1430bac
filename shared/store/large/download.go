package large

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"time"

	"ringi/shared/domain/conversation"
)

// LinkLasts is how long a link to a download is valid. Whoever has the link can fetch the file.
const LinkLasts = time.Minute

// Each reads files of a version one after the other, so that only one is in memory, and calls take with each. It stops
// when all were taken. It returns ErrGone if the version doesn't exist, and an error for a file that is not as the
// manifest says.
func (s *Versions) Each(ctx context.Context, of VersionsOf, version string, files []conversation.Entry,
	take func(e conversation.Entry, content []byte) error) error {
	left := map[string]conversation.Entry{}
	for _, e := range files {
		left[e.Path] = e
	}
	if len(left) == 0 {
		return nil
	}
	if err := checkVersion(version); err != nil {
		return err
	}
	archive, err := s.open(ctx, s.version(of, version))
	if err != nil {
		return fmt.Errorf("read files: %w", err)
	}
	defer archive.Close()
	for in := tar.NewReader(archive); len(left) > 0; {
		h, err := in.Next()
		if err != nil { // also io.EOF: a file is missing
			return fmt.Errorf("read files: %d are missing: %w", len(left), err)
		}
		e, wanted := left[h.Name]
		if !wanted || h.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(io.LimitReader(in, conversation.MaxBytes+1))
		if err != nil {
			return fmt.Errorf("read %q: %w", e.Path, err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != e.SHA256 {
			return fmt.Errorf("read %q: it is not the file that the manifest names", e.Path)
		}
		if err := take(e, content); err != nil {
			return err
		}
		delete(left, h.Name)
	}
	return nil
}

// Link stores a download for a day and returns an address that serves it as a file of this name, without a session, for
// LinkLasts.
func (s *Versions) Link(ctx context.Context, of VersionsOf, name string, body []byte) (string, error) {
	sum := sha256.Sum256(body)
	key := conversation.DownloadsPrefix + of.Tenant + "/" + of.ID + "/" + hex.EncodeToString(sum[:])
	if err := s.bucket.Put(ctx, key, octets, body); err != nil {
		return "", fmt.Errorf("keep a download: %w", err)
	}
	link, err := s.bucket.AddressAs(ctx, key, Served{Kind: octets, Disposition: Attachment(name)}, LinkLasts)
	if err != nil {
		return "", fmt.Errorf("sign a download: %w", err)
	}
	return link, nil
}

// Attachment is the header Content-Disposition of a file that browsers save under this name.
func Attachment(name string) string {
	name = conversation.SafeName(name)
	if header := mime.FormatMediaType("attachment", map[string]string{"filename": name}); header != "" {
		return header
	}
	return "attachment"
}
