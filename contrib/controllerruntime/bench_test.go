//go:build unix

package controllerruntime_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"github.com/crdconvert/webhookd/contrib/controllerruntime"
	"github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob"
)

// cronJob returns an object of v2 of about 4 KB, as the API server stores it.
func cronJob(i int) string {
	env, active := make([]string, 0, 20), make([]string, 0, 6)
	for j := range 20 {
		env = append(env, fmt.Sprintf(`{"name":"VARIABLE_%d","value":"some value of an ordinary length"}`, j))
	}
	for j := range 6 {
		active = append(active, fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job","name":"job-%d-%d","namespace":"default","uid":"uid-%d"}`, i, j, j))
	}
	return fmt.Sprintf(`{"apiVersion":"batch.tutorial.example.com/v2","kind":"CronJob","metadata":{"name":"job-%d","namespace":"default",`+
		`"uid":"6b8c3ad6-8a5c-4f8e-9b58-%012d","resourceVersion":"12345","generation":2,"creationTimestamp":"2026-01-02T03:04:05Z",`+
		`"labels":{"app":"hello","team":"batch"},"annotations":{"example.com/note":"an annotation"},`+
		`"managedFields":[{"manager":"kubectl","operation":"Update","apiVersion":"batch.tutorial.example.com/v2","time":"2026-01-02T03:04:05Z",`+
		`"fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:schedule":{"f:minute":{}},"f:jobTemplate":{"f:spec":{"f:template":{}}}}}}]},`+
		`"spec":{"schedule":{"minute":"*/5","dayOfWeek":"1-5"},"startingDeadlineSeconds":60,"concurrencyPolicy":"Allow","suspend":false,`+
		`"jobTemplate":{"spec":{"backoffLimit":6,"template":{"spec":{"restartPolicy":"OnFailure","serviceAccountName":"runner",`+
		`"containers":[{"name":"hello","image":"busybox:1.37","args":["/bin/sh","-c","date"],"env":[%s],`+
		`"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100m","memory":"128Mi"}}},`+
		`{"name":"second","image":"busybox:1.37","env":[%s],"ports":[{"containerPort":8080,"protocol":"TCP"}]}]}}}},`+
		`"successfulJobsHistoryLimit":3,"failedJobsHistoryLimit":1},`+
		`"status":{"lastScheduleTime":"2026-01-02T03:05:00Z","active":[%s]}}`,
		i, i, strings.Join(env, ","), strings.Join(env[:12], ","), strings.Join(active, ","))
}

// cpuTime is what the process has used so far. Unlike the time of the clock, it does not depend on
// what else runs.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkReview compares the handlers on the same reviews.
func BenchmarkReview(b *testing.B) {
	ours, err := controllerruntime.Handler(newScheme(), nil, cronjob.CRD())
	if err != nil {
		b.Fatal(err)
	}
	for _, objects := range []int{1, 50} {
		all := make([]string, 0, objects)
		for i := range objects {
			all = append(all, cronJob(i))
		}
		review := reviewOf("v1", "v1", all...)
		for _, peer := range []struct {
			name    string
			handler http.Handler
		}{
			{"webhookd", ours},
			{"controller-runtime", crwebhook.NewWebhookHandler(newScheme(), crwebhook.NewRegistry())},
		} {
			b.Run(fmt.Sprintf("objects=%d/%s", objects, peer.name), func(b *testing.B) {
				b.SetBytes(int64(len(review)))
				b.ReportAllocs()
				before := cpuTime(b)
				for b.Loop() {
					req := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/convert", strings.NewReader(review))
					req.Header.Set("Content-Type", "application/json")
					w := httptest.NewRecorder()
					peer.handler.ServeHTTP(w, req)
					if w.Code != http.StatusOK || !bytes.Contains(w.Body.Bytes(), []byte(`"*/5 * * * 1-5"`)) {
						b.Fatalf("%d: %.500s", w.Code, w.Body)
					}
				}
				b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
