package faults_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
)

// A poster sends bodies as they are. It costs a tenth of the API server's client, and sends what
// that never would.
type poster struct {
	client *http.Client
	url    string
}

func newPoster(t *testing.T, p *process.Process, ca *tlstest.CA) *poster {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: ca.Pool(), ServerName: apiclient.ServiceHost},
		MaxIdleConnsPerHost: 100,
		DisableCompression:  true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &poster{
		client: &http.Client{Transport: transport, Timeout: 90 * time.Second},
		url:    "https://" + p.Addr + server.DefaultPath + "?timeout=30s",
	}
}

// post returns the answer, whole.
func (p *poster) post(ctx context.Context, body []byte) (code int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// code is post without the answer, which is not kept.
func (p *poster) code(ctx context.Context, body []byte) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// success posts a body and checks that it was converted.
func (p *poster) success(ctx context.Context, body []byte) error {
	code, answer, err := p.post(ctx, body)
	switch {
	case err != nil:
		return err
	case code != http.StatusOK || !bytes.Contains(answer, []byte(`"status":"Success"`)):
		return fmt.Errorf("answer %d: %.200s", code, answer)
	}
	return nil
}
