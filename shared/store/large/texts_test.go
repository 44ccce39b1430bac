package large_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store/large"
)

// A function that ends on a file may have ended by chance: the second try tells.
func TestAFileIsReadAgainWhenItsReaderEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		ends, asked int // how often the function ends, and is asked
		want        isolated.FileText
	}{
		"it is read":         {0, 1, isolated.FileText{Form: isolated.Sheets, Text: "x"}},
		"it ended by chance": {1, 2, isolated.FileText{Form: isolated.Sheets, Text: "x"}},
		"the file ends it":   {9, 2, isolated.FileText{Why: isolated.TooComplex}},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.Contains(r.URL.Path, "/functions/") { // the bucket
					return
				}
				if asked++; asked <= tt.ends {
					w.Header().Set("X-Amz-Function-Error", "Unhandled")
					_, _ = io.WriteString(w, `{"errorType":"Runtime.ExitError"}`)
					return
				}
				_, _ = io.WriteString(w, `{"form":"`+string(isolated.Sheets)+`","text":"x"}`)
			}))
			t.Cleanup(s.Close)
			cfg := aws.Config{Region: "ap-northeast-1", BaseEndpoint: &s.URL,
				Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
			read := large.Open(cfg, boot.Results{ResultsBucket: "bucket"}).Texts(cfg, "read-file")
			ref := aggregate.Ref{Tenant: "t", Kind: "session", ID: "s"}
			got, err := read(t.Context(), ref, "book.xlsx", []byte("PK"))
			expect.NoError(t, err)
			expect.Same(t, tt.want, got)
			expect.Same(t, tt.asked, asked)
		})
	}
}
