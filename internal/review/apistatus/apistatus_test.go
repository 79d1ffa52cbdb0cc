package apistatus_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/crdconvert/webhookd/internal/review/apistatus"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	const message = `no route for "/x" <here> & "there"`
	tests := map[string]struct {
		write func(http.ResponseWriter)
		code  int
		retry string
		want  metav1.Status
	}{
		"not found": {
			write: func(w http.ResponseWriter) {
				apistatus.Write(w, http.StatusNotFound, metav1.StatusReasonNotFound, message)
			},
			code: http.StatusNotFound,
			want: metav1.Status{Status: metav1.StatusFailure, Code: 404, Reason: metav1.StatusReasonNotFound, Message: message},
		},
		"overloaded": {
			write: func(w http.ResponseWriter) { apistatus.WriteOverloaded(w, message) },
			code:  http.StatusTooManyRequests,
			retry: "1",
			want: metav1.Status{
				Status: metav1.StatusFailure, Code: 429, Reason: metav1.StatusReasonTooManyRequests, Message: message,
				Details: &metav1.StatusDetails{RetryAfterSeconds: 1},
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := httptest.NewRecorder()
			tt.write(rec)

			header := rec.Header()
			got := map[string]string{
				"code":           strconv.Itoa(rec.Code),
				"Content-Type":   header.Get("Content-Type"),
				"Content-Length": header.Get("Content-Length"),
				"Retry-After":    header.Get("Retry-After"),
			}
			want := map[string]string{
				"code":           strconv.Itoa(tt.code),
				"Content-Type":   "application/json",
				"Content-Length": strconv.Itoa(rec.Body.Len()),
				"Retry-After":    tt.retry,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, *decode(t, rec.Body.Bytes())); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

// decode decodes a body as client-go does before it shows the message to a user.
func decode(t *testing.T, body []byte) *metav1.Status {
	t.Helper()
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	obj, err := runtime.Decode(serializer.NewCodecFactory(scheme).UniversalDeserializer(), body)
	if err != nil {
		t.Fatalf("decoding the answer: %v", err)
	}
	status, ok := obj.(*metav1.Status)
	if !ok {
		t.Fatalf("decoded %T, want *metav1.Status", obj)
	}
	status.TypeMeta = metav1.TypeMeta{}
	if apierrors.FromObject(status).Error() != status.Message {
		t.Errorf("the message does not reach the user")
	}
	return status
}
