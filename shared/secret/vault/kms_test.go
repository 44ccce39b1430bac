package vault_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/smithy-go"

	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/secret/vault"
)

// sdk calls KMS with the SDK's client.
type sdk struct{ *kms.Client }

func (s sdk) GenerateDataKey(ctx context.Context, key string, about map[string]string) (plain, wrapped []byte,
	err error) {
	out, err := s.Client.GenerateDataKey(ctx, &kms.GenerateDataKeyInput{KeyId: &key, EncryptionContext: about,
		KeySpec: types.DataKeySpecAes256})
	if err != nil {
		return nil, nil, err
	}
	return out.Plaintext, out.CiphertextBlob, nil
}

func (s sdk) Decrypt(ctx context.Context, key string, wrapped []byte, about map[string]string) ([]byte, error) {
	out, err := s.Client.Decrypt(ctx, &kms.DecryptInput{KeyId: &key, CiphertextBlob: wrapped, EncryptionContext: about})
	if err != nil {
		return nil, err
	}
	return out.Plaintext, nil
}

// envelopes seal with the same key: ours, and one that calls KMS with the SDK's client.
func envelopes(cfg aws.Config, key string) map[string]vault.Envelope {
	return map[string]vault.Envelope{
		"ours": vault.EnvelopeAt(cfg, key), "the SDK's": {KMS: sdk{kms.NewFromConfig(cfg)}, KeyID: key},
	}
}

// refusing is a KMS that answers all calls alike. It has the last one.
type refusing struct {
	status int
	header http.Header
	text   string

	headers map[string]string
	body    any
}

func (k *refusing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, signed, _ := strings.Cut(r.Header.Get("Authorization"), "/")
	_, scope, _ := strings.Cut(signed, "/") // the day may change
	scope, _, _ = strings.Cut(scope, ",")
	k.headers = map[string]string{"method": r.Method, "path": r.URL.RequestURI(), "scope": scope,
		"kind": r.Header.Get("Content-Type"), "target": r.Header.Get("X-Amz-Target")}
	text, _ := io.ReadAll(r.Body)
	k.body = nil
	_ = json.Unmarshal(text, &k.body)
	for name, values := range k.header {
		w.Header()[name] = values
	}
	w.WriteHeader(k.status)
	_, _ = io.WriteString(w, k.text)
}

// callingKMS is the configuration of clients that call KMS once.
func callingKMS(t *testing.T, k http.Handler) aws.Config {
	server := httptest.NewServer(k)
	t.Cleanup(server.Close)
	return aws.Config{Region: "ap-northeast-1", BaseEndpoint: &server.URL,
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "")}
}

// said is what a caller sees of a refused call.
type said struct {
	code, message  string
	class          explain.Class
	locked, sealed bool
}

func TestARefusedCallIsAskedAndReportedAsByTheSDK(t *testing.T) {
	const text = "v1.eA.eHh4eHh4eHh4eHh4eHh4" // its parts mean nothing
	for name, tt := range map[string]struct {
		kms  refusing
		want said // of a text that is opened
	}{
		"no right": {refusing{status: 400, text: `{"__type":"AccessDeniedException","Message":"not authorized"}`},
			said{"AccessDeniedException", "not authorized", explain.Internal, true, false}},
		"a namespace": {refusing{status: 400, text: `{"__type":"com.amazonaws.kms#DisabledException","message":"off"}`},
			said{"DisabledException", "off", explain.Internal, true, false}},
		"a code in the header": {refusing{status: 400, text: `{"message":"gone"}`,
			header: http.Header{"X-Amzn-Errortype": {"NotFoundException:http://x/"}}},
			said{"NotFoundException", "gone", explain.Internal, true, false}},
		"a throttle": {refusing{status: 400, text: `{"__type":"ThrottlingException","message":"slower"}`},
			said{"ThrottlingException", "slower", explain.Unavailable, true, false}},
		"a fault": {refusing{status: 500, text: `{"__type":"KMSInternalException","message":"oops"}`},
			said{"KMSInternalException", "oops", explain.Unavailable, true, false}},
		"another's text": {refusing{status: 400, text: `{"__type":"InvalidCiphertextException"}`},
			said{class: explain.Internal, sealed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			type call struct {
				headers map[string]string
				body    any
			}
			asked := map[string][2]call{}
			for whose, e := range envelopes(callingKMS(t, &tt.kms), "key-id") {
				_, err := e.Open(t.Context(), "T1", "freee", text)
				opening := call{tt.kms.headers, tt.kms.body}
				got := said{class: explain.ClassOf(err), locked: errors.Is(err, vault.ErrLocked),
					sealed: errors.Is(err, vault.ErrSealed)}
				var api smithy.APIError
				if errors.As(err, &api) {
					got.code, got.message = api.ErrorCode(), api.ErrorMessage()
				}
				expect.That(t, got == tt.want, "%s: %+v, want %+v: %v", whose, got, tt.want, err)
				expect.Fails(t, expect.Err(e.Seal(t.Context(), "T1", "freee", []byte("himitsu"))), vault.ErrLocked, whose)
				asked[whose] = [2]call{opening, {tt.kms.headers, tt.kms.body}}
			}
			for i, ours := range asked["ours"] {
				expect.Same(t, asked["the SDK's"][i].headers, ours.headers)
				expect.Same(t, asked["the SDK's"][i].body, ours.body)
			}
		})
	}
}

func TestAnAnswerOfKMSThatCantBeReadLocks(t *testing.T) {
	e := vault.EnvelopeAt(callingKMS(t, &refusing{status: 200, text: "<html>"}), "key-id")
	_, err := e.Seal(t.Context(), "T1", "freee", []byte("himitsu"))
	expect.Fails(t, err, vault.ErrLocked)
	expect.Is(t, explain.ClassOf(err), explain.Unavailable)
}
