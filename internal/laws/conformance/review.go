package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/review/reviewclient"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

const group = "apiextensions.k8s.io"

// A review is the answer to a review, and what was asked.
type review struct {
	uid     types.UID
	objects int // that were sent

	apiextensionsv1.ConversionReview
}

// errNotReview is what an answer is that the API server cannot read.
var errNotReview = errors.New("answer is not a ConversionReview")

// ask posts objects in a review of a version. It reads the answer as kube-apiserver does: names are
// case-sensitive.
func (r *run) ask(ctx context.Context, version, to string, objects ...[]byte) (*review, error) {
	answer := &review{uid: types.UID(rand.Text()), objects: len(objects)}
	text, err := r.Post(ctx, reviewclient.Request(version, string(answer.uid), r.CRD.Group+"/"+to, objects...))
	if isHangup(err) {
		return nil, fmt.Errorf("webhook closed the connection without an answer: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if err := utiljson.Unmarshal(text, &answer.ConversionReview); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotReview, err)
	}
	return answer, nil
}

// isAnswer reports whether an error is about what the webhook has answered.
func isAnswer(err error) bool {
	_, coded := errors.AsType[*reviewclient.StatusError](err)
	return coded || errors.Is(err, errNotReview)
}

// isHangup reports whether the webhook took a review and did not answer it.
func isHangup(err error) bool {
	failed, isNet := errors.AsType[*net.OpError](err)
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || isNet && failed.Op == "read"
}

// converted returns the objects of an answer that says Success and has as many as were sent.
func (a *review) converted() ([]runtime.RawExtension, error) {
	switch {
	case a.Response == nil:
		return nil, errors.New("answer without a response")
	case a.Response.Result.Status != "Success":
		return nil, fmt.Errorf("answer is %q, not \"Success\": %s", a.Response.Result.Status, a.Response.Result.Message)
	case len(a.Response.ConvertedObjects) != a.objects:
		return nil, fmt.Errorf("answer has %d objects, not %d", len(a.Response.ConvertedObjects), a.objects)
	}
	return a.Response.ConvertedObjects, nil
}

// Remote converts objects of a group by posting a review for each.
func Remote(group string, post func(ctx context.Context, review []byte) ([]byte, error)) hold.Remote {
	r := &run{Suite: Suite{Post: post, CRD: &crdschema.CRD{Group: group}}}
	return r.convert
}

// convert is a hold.Remote.
func (r *run) convert(ctx context.Context, object []byte, _, to string) ([]byte, error) {
	answer, err := r.ask(ctx, "v1", to, object)
	if err != nil {
		return nil, err
	}
	objects, err := answer.converted()
	if err != nil {
		return nil, err
	}
	return objects[0].Raw, nil
}

// read decodes an object as kube-apiserver does. It returns nil for something else.
func read(object []byte) map[string]any {
	var fields map[string]any
	if utiljson.Unmarshal(object, &fields) != nil {
		return nil
	}
	return fields
}
