package hostile

import (
	"fmt"
	"net/http"
	"strings"
)

// UID is that of requests where it does not matter.
const UID = "b3997c42-5d0c-4a19-9e3f-0f6ad6c1a0e5"

const (
	reviewV1      = "apiextensions.k8s.io/v1"
	reviewV1beta1 = "apiextensions.k8s.io/v1beta1"
	from          = "example.com/v1beta1"
	to            = "example.com/v1"
)

// fixed returns a text that is there already.
func fixed(text string) Text { return func() string { return text } }

// review returns a request as kube-apiserver writes it, to convert objects to v1.
func review(objects ...string) string { return reviewTo(reviewV1, to, objects...) }

func reviewTo(version, desired string, objects ...string) string {
	return `{"kind":"ConversionReview","apiVersion":"` + version + `","request":{"uid":"` + UID + `","desiredAPIVersion":"` +
		desired + `","objects":[` + strings.Join(objects, ",") + `]},` + requestEnd
}

// requestEnd is what kube-apiserver writes behind the request.
const requestEnd = `"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}` + "\n"

// success returns the whole answer to a request for objects.
func success(objects ...string) string { return successTo(reviewV1, `"`+UID+`"`, objects...) }

func successTo(version, uid string, objects ...string) string {
	return `{"kind":"ConversionReview","apiVersion":"` + version + `","response":{"uid":` + uid + `,"convertedObjects":[` +
		strings.Join(objects, ",") + `],"result":{"status":"Success"}}}` + "\n"
}

const metadata = `"metadata":{"name":"a","namespace":"default","labels":{"team":"` + Canary + `"},"annotations":{"note":"` + Canary + `"}}`

// cronTab returns a CronTab of an apiVersion with more members.
func cronTab(apiVersion, members string) string {
	return `{"apiVersion":"` + apiVersion + `","kind":"CronTab",` + metadata + `,` + members + `}`
}

// holding returns a CronTab that has value, JSON text or not, in its spec.
func holding(apiVersion, value string) string {
	return cronTab(apiVersion, `"spec":{"secret":"`+Canary+`","value":`+value+`}`)
}

// A pair is what metrics say of a conversion.
type pair struct{ kind, from, to string }

func upgrade() pair { return pair{"CronTab.example.com", "v1beta1", "v1"} }
func unknown() pair { return pair{"unknown", "unknown", "unknown"} }
func none() pair    { return pair{"none", "none", "none"} }

func (p pair) reviews(result string) string {
	return fmt.Sprintf(`webhookd_reviews_total{from=%q,kind=%q,result=%q,to=%q}`, p.from, p.kind, result, p.to)
}

func (p pair) objects(result string) string {
	return fmt.Sprintf(`webhookd_objects_total{from=%q,kind=%q,result=%q,to=%q}`, p.from, p.kind, result, p.to)
}

const (
	bodies  = "webhookd_request_size_bytes_count"
	answers = "webhookd_response_size_bytes_count"
)

func rejected(code int) string { return fmt.Sprintf(`webhookd_rejected_total{code="%d"}`, code) }

// converted is the answer with so many objects of a pair, all converted.
func converted(p pair, n int, whole Text) Answer {
	a := Answer{
		Code: http.StatusOK, Result: Success, Whole: whole, Line: "review done", Objects: n,
		Counters: map[string]float64{p.reviews("success"): 1, bodies: 1, answers: 1},
	}
	if n > 0 && p != none() {
		a.Counters[p.objects("converted")] = float64(n)
	}
	return a
}

// failed is the answer to a review of one object that cannot be converted.
func failed(p pair, message string) Answer {
	a := Answer{
		Code: http.StatusOK, Result: Failed, Message: message, Line: "review failed", Objects: 1, Failed: 1,
		Counters: map[string]float64{p.reviews("failed"): 1, bodies: 1, answers: 1},
	}
	if p != none() {
		a.Counters[p.objects("failed")] = 1
	}
	return a
}

// refused is the answer to a body that is no review.
func refused(message string) Answer {
	return Answer{
		Code: http.StatusBadRequest, Result: Status, Reason: "BadRequest", Message: message, Line: "body rejected",
		Counters: map[string]float64{rejected(http.StatusBadRequest): 1, none().reviews("rejected"): 1, bodies: 1},
	}
}

// turnedAway is the answer to a request whose body is not read.
func turnedAway(code int, reason, message string) Answer {
	return Answer{
		Code: code, Result: Status, Reason: reason, Message: message, Line: "request rejected",
		Counters: map[string]float64{rejected(code): 1},
	}
}

func (a Answer) objects(n, failed int) Answer {
	a.Objects, a.Failed = n, failed
	return a
}

func (a Answer) counter(name string, value float64) Answer {
	counters := map[string]float64{name: value}
	for n, v := range a.Counters {
		if n != name {
			counters[n] = v
		}
	}
	a.Counters = counters
	return a
}

func (a Answer) uid(logged string) Answer {
	a.UID = logged
	return a
}

func (a Answer) closed() Answer {
	a.Closed = true
	return a
}

// notJSON is in the message about a body that cannot be read.
const notJSON = "body cannot be read, send a ConversionReview as JSON: "
