package scenario

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// References makes a CRD refer to webhookd in both ways, one after the other, and ask for each
// version of ConversionReview, alone and with others before it, one of which no server knows.
func References(t *testing.T, e *Env) {
	t.Helper()
	p := cronTab()
	state, next := p.before, p.after
	byURL := &Env{Cluster: e.Cluster, Reference: ByURL}
	byService := &Env{Cluster: e.Cluster, Reference: ByService}
	targets := map[Reference]subjectTarget{ByURL: byURL.Webhookd(t), ByService: byService.Webhookd(t)}
	byService.Reviews = []string{"v1"}
	s := byService.subject(t, CRD(t, p.crd), targets[ByService])
	s.create("v1beta1", "a", state("v1beta1"))

	for _, reference := range []Reference{ByURL, ByService} {
		for _, reviews := range [][]string{{"v1"}, {"v1beta1"}, {"v1", "v1beta1"}, {"v1beta1", "v1"}, {"v2", "v1"}} {
			s.w = targets[reference]
			each := &Env{Cluster: e.Cluster, Reference: reference, Reviews: reviews}
			s.run(fmt.Sprintf("%s %s", reference, strings.Join(reviews, " ")), func(s subject) {
				each.UpdateCRD(s.t, p.crd, func(crd *apiextensionsv1.CustomResourceDefinition) {
					crd.Spec.Conversion = each.Conversion(s.w.Addr(), s.w.CA().PEM)
				})
				s.is("a", state)
				s.update("v1beta1", withMembers(s.read("v1beta1", "a"), s.object("v1beta1", "a", next("v1beta1"))))
				s.is("a", next)
			})
			state, next = next, state
		}
	}
}
